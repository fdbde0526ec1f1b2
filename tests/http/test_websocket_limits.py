"""WebSockets that send too much or read nothing are closed; one that was not answered yet gives way to others."""

import os
import struct
from dataclasses import replace

import pytest

from app.server.connection_limits import Limits
from tests.http.conftest import QUICK, Raw, Running, running
from tests.waiting import until

HANDSHAKE = (
    b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)
TEXT, CONTINUATION, PING, CLOSE = 1, 0, 9, 8

pytestmark = pytest.mark.anyio


def frame(opcode: int, payload: bytes = b"", *, fin: bool = True) -> bytes:
    """Return a frame as clients send it, masked with zeros."""
    size = len(payload)
    length = bytes([128 | size]) if size < 126 else bytes([128 | 127]) + struct.pack("!Q", size)
    return bytes([opcode | 128 * fin]) + length + bytes(4) + payload


async def open_socket(server: Running) -> Raw:
    raw = await server.connect()
    raw.send(HANDSHAKE + b"\r\n")
    assert (await raw.head()).startswith(b"HTTP/1.1 101 ")
    return raw


async def closing_code(raw: Raw) -> int:
    """Return the code that the server closes with, behind whatever else it sends."""
    rest = await raw.rest()
    at = rest.rindex(bytes([128 | CLOSE]))
    return int.from_bytes(rest[at + 2 : at + 4])


async def test_a_text_is_answered(server: Running) -> None:
    raw = await open_socket(server)

    raw.send(frame(TEXT, b"Hello"))

    assert await raw.reader.readexactly(7) == b"\x81\x05Hello"


async def test_a_frame_larger_than_the_limit_is_refused() -> None:
    async with running(Limits(), ws_max_size=1000) as server:
        raw = await open_socket(server)
        raw.send(frame(TEXT, b"x" * 1001))

        assert await closing_code(raw) == 1009


async def test_parts_that_are_together_larger_than_the_limit_are_refused() -> None:
    async with running(Limits(), ws_max_size=1000) as server:
        raw = await open_socket(server)
        raw.send(frame(TEXT, b"x" * 600, fin=False) + frame(CONTINUATION, b"x" * 600))

        assert await closing_code(raw) == 1009


async def test_a_message_of_parts_without_end_is_refused_though_they_are_empty(server: Running) -> None:
    raw = await open_socket(server)
    raw.send(frame(TEXT, b"", fin=False) + frame(CONTINUATION, b"", fin=False) * 5000)

    assert await closing_code(raw) == 1009


async def test_messages_that_the_application_does_not_take_are_not_piled_up(server: Running) -> None:
    raw = await open_socket(server)
    raw.send(frame(TEXT, b"sleep") + frame(TEXT, b"x") * 5000)

    assert await closing_code(raw) == 1008


async def test_pings_whose_pongs_are_not_read_end_the_connection_and_pile_nothing_up() -> None:
    async with running(QUICK) as server:
        raw = await open_socket(server)
        raw.reader._transport.pause_reading()
        for _ in range(400):
            raw.send(frame(PING, os.urandom(100)) * 500)

        await until(lambda: server.connections() == 0)


@pytest.mark.parametrize(
    ("extra", "status"),
    [
        (b"", b"101 "),
        (b"Host: b\r\n", b"400 "),
        (b"X: " + b"x" * 8_001 + b"\r\n", b"431 "),
        (b"X: " + b"x" * 40_000 + b"\r\n", b"431 "),
        (b"a: b\r\n" * 200, b"431 "),
    ],
)
async def test_a_handshake_is_checked_as_any_request(server: Running, extra: bytes, status: bytes) -> None:
    raw = await server.connect()
    raw.send(HANDSHAKE + extra + b"\r\n")

    assert (await raw.head()).startswith(b"HTTP/1.1 " + status)


@pytest.mark.parametrize("extra", [b"X: " + b"x" * 7_999 + b"\r\n", b"a: b\r\n" * 94])
async def test_a_large_handshake_within_the_limits_is_answered(server: Running, extra: bytes) -> None:
    raw = await server.connect()
    raw.send(HANDSHAKE + extra + b"\r\n")

    assert (await raw.head()).startswith(b"HTTP/1.1 101 ")


async def test_a_socket_that_is_not_answered_ends_and_one_that_was_does_not() -> None:
    async with running(replace(QUICK, handshake_seconds=3, head_seconds=10)) as server:
        talking = await open_socket(server)
        talking.send(frame(TEXT, b"a"))
        await talking.reader.readexactly(3)
        silent = await open_socket(server)

        assert await silent.rest() == b""
        talking.send(frame(TEXT, b"b"))
        assert await talking.reader.readexactly(3) == b"\x81\x01b"
        assert server.connections() == 1


async def test_a_socket_that_was_not_answered_yet_gives_way_and_one_that_was_keeps_its_place() -> None:
    async with running(replace(Limits(), connections=10)) as server:
        talking = await open_socket(server)
        talking.send(frame(TEXT, b"a"))
        await talking.reader.readexactly(3)
        silent = [await open_socket(server) for _ in range(9)]

        late = await server.connect()
        late.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")

        assert (await late.head()).startswith(b"HTTP/1.1 200 OK")
        assert await silent[0].rest() == b""
        talking.send(frame(TEXT, b"b"))
        assert await talking.reader.readexactly(3) == b"\x81\x01b"

"""Clients that send or read slowly, or not at all, are closed in time and take the place of no other."""

import asyncio
import socket
from dataclasses import replace

import orjson
import pytest

from app.server.connection_limits import Limits
from tests.http.conftest import QUICK, Raw, Running, running
from tests.waiting import until

SOUND = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
BODY = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n"

pytestmark = pytest.mark.anyio


def error_in(answer: bytes) -> str:
    return orjson.loads(answer.partition(b"\r\n\r\n")[2])["error_code"]


@pytest.mark.parametrize("part", [b"G", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n", b"\r\n"])
async def test_a_head_that_does_not_end_is_answered_408_and_closed(quick: Running, part: bytes) -> None:
    answer = await quick.ask(part)

    assert answer.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    assert error_in(answer) == "request_timeout"
    assert quick.requests == []
    await until(lambda: quick.connections() == 0)


async def test_a_head_that_drips_is_closed_as_one_that_stands_still(quick: Running) -> None:
    raw = await quick.connect()
    raw.send(b"GET / HTTP/1.1\r\nHost: a\r\n")

    async def drip() -> None:
        for _ in range(95):
            raw.send(b"a: b\r\n")
            await asyncio.sleep(0.02)

    dripping = asyncio.create_task(drip())
    answer = await raw.rest()
    dripping.cancel()

    assert error_in(answer) == "request_timeout"


async def test_a_connection_that_sends_nothing_is_closed_without_a_word(quick: Running) -> None:
    assert await quick.ask(b"") == b""


@pytest.mark.parametrize("part", [b"", b"x", b"123456789"])
async def test_a_body_that_does_not_end_is_answered_408_and_its_request_done_no_further(
    quick: Running, part: bytes
) -> None:
    answer = await quick.ask(BODY + part)

    assert error_in(answer) == "request_timeout"
    assert quick.requests == []
    await until(lambda: not quick.server.server_state.tasks and quick.connections() == 0)


async def test_a_second_head_has_its_own_time() -> None:
    async with running(replace(QUICK, head_seconds=3)) as server:
        raw = await server.connect()
        raw.send(SOUND)
        await raw.head()

        raw.send(b"GET / HTTP/1.1\r\n")
        answer = await raw.rest()

        assert b"HTTP/1.1 408 " in answer
        assert len(server.requests) == 1


async def test_a_body_behind_its_answer_is_read_for_no_longer_than_another() -> None:
    async with running(replace(QUICK, head_seconds=10), timeout_keep_alive=60) as quick:
        raw = await quick.connect()
        raw.send(b"POST /first HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nx")
        await raw.head()

        await raw.rest()

        assert len(quick.requests) == 1


async def test_an_idle_connection_is_closed_after_the_time_that_it_is_kept() -> None:
    async with running(replace(QUICK, head_seconds=10), timeout_keep_alive=1) as server:
        raw = await server.connect()
        raw.send(SOUND)
        await raw.head()
        await raw.rest()

        assert len(server.requests) == 1


async def test_a_client_that_reads_nothing_is_dropped_with_its_unread_answer(quick: Running) -> None:
    quick.answer = b"x" * 20_000_000
    deaf = socket.create_connection(("127.0.0.1", quick.port))
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.sendall(SOUND)

    await until(lambda: len(quick.requests) == 1)
    await until(lambda: quick.connections() == 0 and not quick.server.server_state.tasks)

    deaf.close()


async def test_a_client_that_reads_slowly_gets_all_of_its_answer() -> None:
    async with running(replace(QUICK, stall_seconds=2)) as server:
        server.answer = b"x" * 3_000_000
        raw = await server.connect()
        raw.send(SOUND)
        head = await raw.head()
        for _ in range(30):
            assert len(await raw.reader.readexactly(100_000)) == 100_000
            await asyncio.sleep(0.08)

        assert head.startswith(b"HTTP/1.1 200 OK")


async def occupy(server: Running, count: int) -> list[Raw]:
    """Open connections that have sent a half of a request."""
    raws = [await server.connect() for _ in range(count)]
    for raw in raws:
        raw.send(b"GET / HTTP/1.1\r\n")
    await until(lambda: server.connections() == count)
    return raws


async def test_a_new_connection_takes_the_place_of_the_one_that_was_idle_longest() -> None:
    async with running(replace(Limits(), connections=10)) as server:
        oldest, *others = await occupy(server, 10)

        raw = await server.connect()
        raw.send(SOUND)

        assert (await raw.head()).startswith(b"HTTP/1.1 200 OK")
        assert await oldest.rest() == b""
        assert server.connections() == 10
        for other in others:
            other.send(b"Host: a\r\n\r\n")
            assert (await other.head()).startswith(b"HTTP/1.1 200 OK")


async def test_a_connection_that_is_at_work_keeps_its_place_and_the_new_one_is_answered_503() -> None:
    async with running(replace(Limits(), connections=10)) as server:
        busy = [await server.connect() for _ in range(10)]
        for raw in busy:
            raw.send(b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n")
        await until(lambda: len(server.requests) == 10)

        refused = await server.ask(b"")
        server.is_released = True

        assert refused.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
        assert error_in(refused) == "unavailable"
        assert [(await raw.head())[:15] for raw in busy] == [b"HTTP/1.1 200 OK"] * 10


async def test_an_answered_connection_is_idle_again_and_gives_way() -> None:
    async with running(replace(Limits(), connections=10)) as server:
        kept = [await server.connect() for _ in range(10)]
        for raw in kept:
            raw.send(SOUND)
            await raw.head()

        for _ in range(10):
            raw = await server.connect()
            raw.send(SOUND)
            assert (await raw.head()).startswith(b"HTTP/1.1 200 OK")

        assert len(server.requests) == 20
        assert server.connections() == 10

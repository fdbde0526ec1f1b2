"""Requests that are too large, have two meanings, or are no HTTP never reach the application."""

import asyncio

import orjson
import pytest

from app.server.connection_limits import Limits
from tests.http.conftest import Running
from tests.waiting import until

HOST = b"Host: a\r\n"
POST = b"POST / HTTP/1.1\r\n" + HOST
SOUND = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"

pytestmark = pytest.mark.anyio

CLOSE = b"Connection: close\r\n"
CLOSING = b"GET /last HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n"

H2C = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n"
"""The headers of Java's HttpClient and `curl --http2` over plain http."""

BAD = {
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two hosts": b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "the same host twice": b"GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n",
    "two hosts in HTTP/1.0": b"GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
    "an empty host": b"GET / HTTP/1.1\r\nHost:\r\n\r\n",
    "a host with a path": b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
    "a host with a user": b"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n",
    "a host with a list": b"GET / HTTP/1.1\r\nHost: a, b\r\n\r\n",
    "a host with a space": b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n",
    "a host with a control character": b"GET / HTTP/1.1\r\nHost: a\x01\r\n\r\n",
    "a port that is none": b"GET / HTTP/1.1\r\nHost: a:x\r\n\r\n",
    "another host in the target": b"GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n",
    "a target without a path": b"GET http://a HTTP/1.1\r\nHost: a\r\n\r\n",
    "a target of another kind": b"GET mailto:a HTTP/1.1\r\nHost: a\r\n\r\n",
    "a target whose host the parser refuses": b"GET http://a_b/ HTTP/1.1\r\nHost: a_b\r\n\r\n",
    "a target whose port is too large": b"GET http://a:99999/ HTTP/1.1\r\nHost: a:99999\r\n\r\n",
    "a tunnel": b"CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n",
    "two lengths": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
    "the same length twice": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
    "a list of lengths": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\nx",
    "a signed length": b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\nx",
    "a length and chunks": POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks and a length": POST + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "chunks twice": POST + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a list of encodings": b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "an unknown encoding": b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "chunks in HTTP/1.0": b"POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a folded header": b"GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n",
    "a space before the colon": b"GET / HTTP/1.1\r\nHost: a\r\nX : a\r\n\r\n",
    "NUL in a value": b"GET / HTTP/1.1\r\nHost: a\r\nX: a\x00b\r\n\r\n",
    "a control character in a value": b"GET / HTTP/1.1\r\nHost: a\r\nX: a\x01b\r\n\r\n",
    "a bare carriage return in a value": b"GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n",
    "a control character in a name": b"GET / HTTP/1.1\r\nHost: a\r\nX\x01: a\r\n\r\n",
    "an empty name": b"GET / HTTP/1.1\r\nHost: a\r\n: a\r\n\r\n",
    "no colon": b"GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n",
    "bytes that are no ASCII in the path": "GET /ü HTTP/1.1\r\nHost: a\r\n\r\n".encode(),
    "another version": b"GET / HTTP/2.0\r\nHost: a\r\n\r\n",
    "an older version": b"GET / HTTP/0.9\r\nHost: a\r\n\r\n",
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "a tunnel to a path": b"CONNECT / HTTP/1.1\r\nHost: a\r\n\r\n",
    "a body beside a handshake": POST + b"Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 5\r\n\r\nabcde",
    "a body beside a choice": POST + b"Connection: Upgrade\r\nUpgrade: h2c, WebSocket\r\nContent-Length: 1\r\n\r\na",
    "a body beside a second upgrade": POST
    + b"Connection: Upgrade\r\nUpgrade: websocket\r\nUpgrade: h2c\r\nContent-Length: 1\r\n\r\na",
    "two lengths beside an upgrade": POST + H2C + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\naa",
    "a length and chunks beside an upgrade": POST
    + H2C
    + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks beside an upgrade": POST
    + b"Connection: Upgrade\r\nUpgrade: websocket\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a chunk without a size": b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n\r\n",
}


@pytest.mark.parametrize("kind", BAD)
async def test_a_request_with_two_meanings_or_none_is_refused_before_the_application(
    server: Running, kind: str
) -> None:
    answer = await server.ask(BAD[kind])

    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 Bad Request\r\n")
    assert orjson.loads(body)["error_code"] == "invalid_request"
    assert server.requests == []


@pytest.mark.parametrize(
    "head",
    [
        SOUND,
        b"GET / HTTP/1.0\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: sms.example.com:8000\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: [::1]:8000\r\n\r\n",
        b"GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: a\tb \xff\r\n\r\n",
    ],
)
async def test_a_sound_request_reaches_the_application(server: Running, head: bytes) -> None:
    raw = await server.connect()
    raw.send(head)

    assert (await raw.head()).startswith(b"HTTP/1.1 200 OK\r\n")
    assert [scope["path"] for scope, _ in server.requests] == ["/"]


async def test_a_request_smuggled_in_a_body_is_not_executed(server: Running) -> None:
    hidden = b"0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: a\r\n\r\n"
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: %d\r\n\r\n" % len(hidden)

    await server.ask(head + hidden)

    assert server.requests == []


async def test_a_request_smuggled_behind_an_upgrade_is_not_executed(server: Running) -> None:
    hidden = b"DELETE /hidden HTTP/1.1\r\nHost: a\r\n\r\n"
    head = b"POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: %d\r\n\r\n"

    await server.ask(head % len(hidden) + hidden)

    assert server.requests == []


async def test_a_request_smuggled_behind_another_upgrade_is_read_as_the_body(server: Running) -> None:
    hidden = b"DELETE /hidden HTTP/1.1\r\nHost: a\r\n\r\n"

    await server.ask(POST + CLOSE + b"Upgrade: h2c\r\nContent-Length: %d\r\n\r\n" % len(hidden) + hidden)
    await server.ask(POST + H2C + b"Content-Length: %d\r\n\r\n" % len(hidden) + hidden + CLOSING)

    assert [(scope["method"], body) for scope, body in server.requests] == [
        ("POST", hidden),
        ("POST", hidden),
        ("GET", b""),
    ]


@pytest.mark.parametrize("cut", [1, 7, 60, 100_000])
@pytest.mark.parametrize(
    "body", [b"Content-Length: 5\r\n\r\nabcde", b"Transfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n"]
)
async def test_an_upgrade_that_the_service_does_not_know_is_ignored_and_the_connection_goes_on(
    server: Running, body: bytes, cut: int
) -> None:
    sent = (
        POST
        + H2C
        + body
        + POST
        + H2C
        + b"Content-Length: 0\r\n\r\n"
        + b"GET /3 HTTP/1.1\r\n"
        + HOST
        + H2C
        + b"\r\n"
        + CLOSING
    )
    raw = await server.connect()
    for start in range(0, len(sent), cut):
        raw.send(sent[start : start + cut])
        await asyncio.sleep(0)

    answered = await raw.rest()

    assert answered.count(b"HTTP/1.1 200 OK\r\n") == 4
    assert [(scope["method"], scope["path"], body) for scope, body in server.requests] == [
        ("POST", "/", b"abcde"),
        ("POST", "/", b""),
        ("GET", "/3", b""),
        ("GET", "/last", b""),
    ]
    names = {name for scope, _ in server.requests for name, _ in scope["headers"]}
    assert names & {b"upgrade", b"http2-settings"} == set()


async def test_a_head_that_asks_for_an_upgrade_is_as_large_as_another(server: Running) -> None:
    head = POST + H2C + b"X: " + b"x" * 32_000 + b"\r\nContent-Length: 200000\r\n" + CLOSE + b"\r\n"

    answer = await server.ask(head + b"x" * 200_000)

    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert [len(body) for _, body in server.requests] == [200_000]


async def test_requests_that_ask_for_an_upgrade_wait_in_the_same_number(server: Running) -> None:
    answer = await server.ask((POST + H2C + b"Content-Length: 1\r\n\r\na") * 2_000)

    assert answer.count(b"HTTP/1.1 200 OK\r\n") <= 17
    assert answer.count(b"invalid_request") == 1


async def test_a_trailer_never_becomes_a_header(server: Running) -> None:
    body = b"1\r\nx\r\n0\r\nX-API-Key: stolen\r\nHost: b\r\n\r\n"

    await server.ask(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n" + CLOSE + b"\r\n" + body)

    [(scope, given)] = server.requests
    assert given == b"x"
    assert [value for name, value in scope["headers"] if name in (b"x-api-key", b"host")] == [b"a"]


@pytest.mark.parametrize(
    ("count", "status"), [(98, b"200 OK"), (99, b"200 OK"), (100, b"431 "), (5000, b"431 "), (500_000, b"431 ")]
)
async def test_a_request_has_at_most_100_headers(server: Running, count: int, status: bytes) -> None:
    head = b"GET / HTTP/1.1\r\n" + HOST + b"a: b\r\n" * count + b"\r\n"
    raw = await server.connect()
    raw.send(head)

    assert (await raw.head()).startswith(b"HTTP/1.1 " + status)
    assert len(server.requests) == (status == b"200 OK")


@pytest.mark.parametrize(
    "start", [b"GET / HTTP/1.1\r\nHost: a\r\nX: ", b"GET / HTTP/1.1\r\nHost: a\r\n", b"GET /", b"", b"\r\n" * 20_000]
)
async def test_a_head_that_goes_on_is_refused_after_32_kib(server: Running, start: bytes) -> None:
    raw = await server.connect()
    raw.send(start + b"x" * (33 * 1024))

    answer = await raw.head()

    assert answer.startswith((b"HTTP/1.1 431 ", b"HTTP/1.1 400 "))
    assert server.requests == []


@pytest.mark.parametrize(("size", "status"), [(32_700, b"200 OK"), (32_800, b"431 ")])
async def test_a_head_of_32_kib_is_the_largest_however_it_is_cut(server: Running, size: int, status: bytes) -> None:
    start = b"GET / HTTP/1.1\r\nHost: a\r\nX: "
    head = start + b"x" * (size - len(start) - 4) + b"\r\n\r\n"
    raw = await server.connect()
    for at in range(0, len(head), 7_000):
        raw.send(head[at : at + 7_000])

    assert (await raw.head()).startswith(b"HTTP/1.1 " + status)


async def test_the_second_head_of_a_connection_is_bounded_as_the_first(server: Running) -> None:
    raw = await server.connect()
    raw.send(SOUND)
    await raw.head()

    raw.send(b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 60_000)

    assert b"HTTP/1.1 431 " in await raw.rest()
    assert len(server.requests) == 1


@pytest.mark.parametrize(("count", "answered"), [(1, 200), (1024, 200), (1025, 400), (50_000, 400)])
async def test_a_body_has_at_most_1024_chunks(server: Running, count: int, answered: int) -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n" + CLOSE + b"\r\n"

    # the last chunk, which is empty, counts too
    answer = await server.ask(head + b"1\r\nx\r\n" * (count - 1) + b"0\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 %d " % answered)
    assert len(server.requests) == (answered == 200)


async def test_a_body_without_end_is_read_no_further(server: Running) -> None:
    raw = await server.connect()
    raw.send(b"POST /first HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n")
    assert (await raw.head()).startswith(b"HTTP/1.1 200 OK")

    raw.send(b"x" * 4 * Limits().body_bytes)

    await raw.rest()
    assert len(server.requests) == 1
    await until(lambda: server.connections() == 0)


async def test_pipelined_requests_are_answered_in_their_order_and_bounded(server: Running) -> None:
    raw = await server.connect()
    raw.send(SOUND * 1000)

    answer = await raw.rest()

    assert answer.count(b"HTTP/1.1 200 OK") == len(server.requests) == Limits().pipelined + 1
    assert answer.rindex(b"HTTP/1.1 400 ") > answer.rindex(b"HTTP/1.1 200 OK")


async def test_a_refused_request_is_answered_after_the_request_before_it(server: Running) -> None:
    answer = await server.ask(SOUND + b"GET / HTTP/1.1\r\n\r\n")

    assert answer.index(b"HTTP/1.1 200 OK") < answer.index(b"HTTP/1.1 400 ")
    assert len(server.requests) == 1


async def test_a_refused_target_does_not_end_the_request_before_it(server: Running) -> None:
    raw = await server.connect()
    raw.send(b"POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx")
    await until(lambda: len(server.requests) == 1)
    raw.send(b"GET http://a_b/ HTTP/1.1\r\nHost: a_b\r\n\r\n")
    server.is_released = True

    answer = await raw.rest()

    assert answer.index(b"HTTP/1.1 200 OK") < answer.index(b"HTTP/1.1 400 ")
    assert len(server.requests) == 1

"""Posting to peers on this machine: what is sent, what comes back, and what a peer can do to us."""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence

import pytest

from app.domain.webhooks.poster import PostError
from app.providers.outbound.client import HttpClient
from tests.providers.peers import OK, Answering, Peer, repeat, say, say_and_close, say_and_reset, serve, then
from tests.providers.posting import HEADERS, LONG, Names, open_poster
from tests.waiting import never, until

SHORT = 0.3


@pytest.fixture
async def poster() -> AsyncGenerator[HttpClient]:
    poster = open_poster()
    yield poster
    await poster.close()


async def answer_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()
    raise ConnectionResetError


async def test_a_posted_request_arrives_unchanged(poster: HttpClient) -> None:
    async with serve(say(OK)) as peer:
        await poster.post(f"{peer.url}?a=1", HEADERS, b'{"a":1}')

    head = (
        f"POST /hook?a=1 HTTP/1.1\r\nhost: 127.0.0.1:{peer.port}\r\ncontent-type: application/json\r\n"
        "webhook-id: evt_1\r\ncontent-length: 7\r\n\r\n"
    )
    assert peer.requests == [(head, b'{"a":1}')]


async def test_a_reply_holds_the_answer_and_the_address_of_the_peer(poster: HttpClient) -> None:
    answer = b"HTTP/1.1 503 Later\r\nRetry-After: 120\r\ncontent-length: 4\r\n\r\nlate"

    async with serve(say(answer)) as peer:
        reply = await poster.post(peer.url, HEADERS, b"")

    assert (reply.status, reply.error, reply.address) == (503, "", "127.0.0.1")
    assert reply.headers == {"retry-after": "120", "content-length": "4"}
    assert (reply.body, reply.retry_after) == (b"late", 120.0)
    assert 0 < reply.duration < LONG


async def test_a_connection_is_kept_for_the_next_post(poster: HttpClient) -> None:
    async with serve(say(OK)) as peer:
        replies = [await poster.post(peer.url, HEADERS, b"%d" % number) for number in range(5)]

    assert [reply.status for reply in replies] == [200] * 5
    assert [body for _, body in peer.requests] == [b"0", b"1", b"2", b"3", b"4"]
    assert peer.connections == 1


async def test_posts_at_the_same_time_have_a_connection_each(poster: HttpClient) -> None:
    async with serve(say(OK)) as peer:
        for _ in range(3):
            replies = await asyncio.gather(*(poster.post(peer.url, HEADERS, b"%d" % each) for each in range(20)))
            assert [reply.status for reply in replies] == [200] * 20

    assert len(peer.requests) == 60
    assert peer.connections == 20


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nkeep-alive: timeout=1\r\ncontent-length: 2\r\n\r\nok",
        OK + OK,
        OK + b"surplus",
    ],
)
async def test_a_connection_that_the_peer_will_close_or_abuses_is_not_kept(poster: HttpClient, answer: bytes) -> None:
    async with serve(say(answer)) as peer:
        replies = [await poster.post(peer.url, HEADERS, b"") for _ in range(2)]

    assert [(reply.status, reply.body) for reply in replies] == [(200, b"ok")] * 2
    assert peer.connections == 2


async def test_a_connection_that_is_not_kept_is_ended_by_us(poster: HttpClient) -> None:
    async with serve(say(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")) as peer:
        reply = await poster.post(peer.url, HEADERS, b"")
        await peer.wait_until_ended()

    assert reply.status == 200


async def test_a_connection_with_an_unrequested_answer_is_not_used_again(poster: HttpClient) -> None:
    async def answer_then_go_on(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(OK)
        await asyncio.sleep(0.05)
        writer.write(b"HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n")

    async with serve(answer_then_go_on) as peer:
        first = await poster.post(peer.url, HEADERS, b"")
        await peer.wait_until_ended()
        second = await poster.post(peer.url, HEADERS, b"")

    assert [first.status, second.status] == [200, 200]
    assert peer.connections == 2


async def test_a_kept_connection_that_the_peer_has_closed_is_not_used_again(poster: HttpClient) -> None:
    async with serve(say_and_close(OK)) as peer:
        replies = []
        for _ in range(3):
            replies.append(await poster.post(peer.url, HEADERS, b""))
            await peer.wait_until_ended()
            peer.ended.clear()

    assert [reply.status for reply in replies] == [200] * 3
    assert (peer.connections, len(peer.requests)) == (3, 3)


async def test_a_close_that_was_not_noticed_yet_is_noticed_before_a_connection_is_used_again(
    poster: HttpClient,
) -> None:
    async def answer_and_close_at_once(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(OK)
        writer.write_eof()

    async with serve(then(answer_and_close_at_once, say(OK))) as peer:
        replies = [await poster.post(peer.url, HEADERS, b"") for _ in range(2)]

    assert [(reply.status, reply.error) for reply in replies] == [(200, "")] * 2
    assert (peer.connections, len(peer.requests)) == (2, 2)


async def test_a_written_request_is_never_written_again(poster: HttpClient) -> None:
    async with serve(then(say(OK), say_and_close())) as peer:
        first = await poster.post(peer.url, HEADERS, b"first")
        second = await poster.post(peer.url, HEADERS, b"second")

    assert (first.status, first.error) == (200, "")
    assert (second.status, second.error, second.address) == (None, PostError.closed, "127.0.0.1")
    assert [body for _, body in peer.requests] == [b"first", b"second"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed(poster: HttpClient, status: int) -> None:
    async with serve(say(OK)) as elsewhere:
        answer = f"HTTP/1.1 {status} Moved\r\nlocation: {elsewhere.url}\r\ncontent-length: 0\r\n\r\n"
        async with serve(say(answer.encode())) as peer:
            reply = await poster.post(peer.url, HEADERS, b"")

    assert (reply.status, reply.headers["location"]) == (status, elsewhere.url)
    assert elsewhere.connections == 0


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serve(say(OK)) as proxy, serve(say(OK)) as peer:
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
            monkeypatch.setenv(name.upper(), proxy.url)
        poster = open_poster(Names(["127.0.0.1"]))
        reply = await poster.post(f"http://hooks.example:{peer.port}/", HEADERS, b"")
        await poster.close()

    assert (reply.status, peer.connections, proxy.connections) == (200, 1, 0)


@pytest.mark.parametrize(
    ("answering", "status", "body"),
    [
        (say(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", b"2\r\nok\r\n", b"0\r\n\r\n"), 200, b"ok"),
        (say(b"HTTP/1.1 100 Continue\r\n\r\n", OK), 200, b"ok"),
        (say(b"HTTP/1.1 410 Gone\r\ncontent-le", b"ngth: 0\r\n\r\n"), 410, b""),
        (say_and_close(b"HTTP/1.1 200 OK\r\n\r\n", b"until ", b"the end"), 200, b"until the end"),
        (say_and_close(b"HTTP/1.0 404 Not Found\r\n\r\n"), 404, b""),
    ],
)
async def test_answers_come_in_many_forms(poster: HttpClient, answering: Answering, status: int, body: bytes) -> None:
    async with serve(answering) as peer:
        reply = await poster.post(peer.url, HEADERS, b"")

    assert (reply.status, reply.error, reply.body) == (status, "", body)


@pytest.mark.parametrize(
    ("answering", "error"),
    [
        (say_and_close(), PostError.closed),
        (say_and_close(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nok"), PostError.closed),
        (say_and_reset(b"HTTP/1.1 200 OK\r\n\r\nok"), PostError.closed),
        (say_and_close(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n"), PostError.closed),
        (say(b"220 mail.example.com ESMTP\r\n"), PostError.protocol),
        (say(b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"), PostError.protocol),
        (repeat(b"HTTP/1.1 100 Continue\r\n\r\n" * 100), PostError.too_large),
        (repeat(b"x: y\r\n" * 100, start=b"HTTP/1.1 200 OK\r\n"), PostError.too_large),
    ],
)
async def test_a_peer_that_answers_badly_costs_a_reply_and_its_connection(
    poster: HttpClient, answering: Answering, error: PostError
) -> None:
    async with serve(answering) as peer:
        replies = [await poster.post(peer.url, HEADERS, b"") for _ in range(2)]

    assert [(reply.status, reply.error, reply.address) for reply in replies] == [(None, error, "127.0.0.1")] * 2
    assert (peer.connections, len(peer.requests)) == (2, 2)


@pytest.mark.parametrize(
    "answering",
    [
        say(),
        say(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nok"),
        answer_nothing,
        repeat(b"HTTP/1.1 100 Continue\r\n\r\n", pause=0.01),
        repeat(b"y", start=b"HTTP/1.1 200 OK\r\nx: ", pause=0.01),
        repeat(b"x", start=b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n", pause=0.01),
    ],
)
async def test_a_peer_that_takes_too_long_is_given_up(answering: Answering) -> None:
    poster = open_poster(timeout=SHORT)

    async with serve(answering) as peer:
        reply = await poster.post(peer.url, HEADERS, b"")
        await _until_requested(peer)
        await poster.close()

    assert (reply.status, reply.error, reply.address) == (None, PostError.timeout, "127.0.0.1")
    assert SHORT / 2 < reply.duration < LONG
    assert len(peer.requests) == 1


async def test_a_slow_look_up_leaves_less_time_for_the_answer() -> None:
    class SlowNames(Names):
        async def look_up(self, host: str) -> Sequence[str]:
            await asyncio.sleep(3 * SHORT)
            return await super().look_up(host)

    poster = open_poster(SlowNames(["127.0.0.1"]), timeout=10 * SHORT)

    async with serve(say()) as peer:
        reply = await poster.post(f"http://slow.example:{peer.port}/", HEADERS, b"")
        await poster.close()

    assert (reply.status, reply.error, len(peer.requests)) == (None, PostError.timeout, 1)
    assert reply.duration < 12 * SHORT


async def test_a_connection_that_was_made_while_this_process_was_held_up_is_used() -> None:
    poster = open_poster(connect_timeout=SHORT)

    async with serve(say(OK)) as peer:
        posting = asyncio.create_task(poster.post(peer.url, HEADERS, b""))
        await asyncio.sleep(0)  # the connection is asked for
        time.sleep(2 * SHORT)  # noqa: ASYNC251 - nothing else runs meanwhile
        reply = await posting
        await poster.close()

    assert (reply.status, reply.error) == (200, "")


async def test_a_body_without_an_end_is_cut(poster: HttpClient) -> None:
    async with serve(repeat(b"x" * 1000, start=b"HTTP/1.1 200 OK\r\n\r\n")) as peer:
        reply = await poster.post(peer.url, HEADERS, b"")
        await peer.wait_until_ended()

    assert (reply.status, reply.body) == (200, b"x" * 2048)


async def test_a_longer_body_is_kept_when_the_caller_asks_for_it(poster: HttpClient) -> None:
    body = b"x" * 100_000
    async with serve(say(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n" + body)) as peer:
        replies = [await poster.send("GET", peer.url, HEADERS, kept=200_000) for _ in range(2)]
        cut = await poster.send("GET", peer.url, HEADERS, kept=50_000)

    assert [(reply.status, reply.body) for reply in replies] == [(200, body)] * 2
    assert cut.body == body[:50_000]
    assert peer.connections == 1
    assert peer.requests[0][0].startswith("GET /hook HTTP/1.1\r\n")
    assert "content-length" not in peer.requests[0][0]


async def test_an_answer_that_comes_before_the_body_was_read_counts(poster: HttpClient) -> None:
    async def refuse(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n")
        await never()

    async with serve(refuse, reads_body=False) as peer:
        replies = [await poster.post(peer.url, HEADERS, b"x" * 20_000_000) for _ in range(2)]

    assert [(reply.status, reply.error) for reply in replies] == [(413, "")] * 2
    assert peer.connections == 2


@pytest.mark.parametrize("name", ["x\r\ny", "x\ny", "x"])
@pytest.mark.parametrize("value", ["a\r\nhost: evil", "a\n", "a\r", "é"])
async def test_a_header_cannot_bring_another_one(poster: HttpClient, name: str, value: str) -> None:
    async with serve(say(OK)) as peer:
        with pytest.raises(ValueError, match=r"line break|ascii"):
            await poster.post(peer.url, {name: value}, b"")

    assert peer.connections == 0


async def test_a_post_that_is_cancelled_ends_its_connection(poster: HttpClient) -> None:
    async with serve(answer_nothing) as peer:
        posting = asyncio.create_task(poster.post(peer.url, HEADERS, b""))
        await _until_requested(peer)
        posting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await posting
        await peer.wait_until_ended()

    assert peer.connections == 1


async def test_closing_ends_the_kept_connections(poster: HttpClient) -> None:
    async with serve(say(OK)) as peer:
        await asyncio.gather(*(poster.post(peer.url, HEADERS, b"") for _ in range(3)))
        await poster.close()
        await peer.wait_until_ended()

    assert peer.connections == 3


async def _until_requested(peer: Peer) -> None:
    await until(lambda: peer.requests, every=0.001)

"""Using connections again: not too long, not too many, and none that has ended."""

import asyncio

import pytest

from app.domain.webhooks.poster import PostError
from app.providers.outbound.connection import Connection
from app.providers.outbound.failure import ExchangeFailed
from app.providers.outbound.limit import LOOK_SECONDS
from app.providers.outbound.pool import Pool
from tests.providers.peers import OK, Peer, say, serve, then
from tests.waiting import within

REQUEST = b"POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n"
KEY = ("http://hooks.example:80", "127.0.0.1")


async def connect(peer: Peer) -> Connection:
    loop = asyncio.get_running_loop()
    return (await loop.create_connection(lambda: Connection(KEY), "127.0.0.1", peer.port))[1]


async def test_the_connection_that_was_kept_last_is_taken_first() -> None:
    pool = Pool(idle_limit=10, capacity=10)

    async with serve(say(OK)) as peer:
        first, second = await connect(peer), await connect(peer)
        pool.keep(first, None)
        pool.keep(second, None)

        assert [pool.take(KEY), pool.take(KEY), pool.take(KEY)] == [second, first, None]
        assert pool.take(("http://other.example:80", "127.0.0.1")) is None
        first.abort()
        second.abort()


async def test_a_pool_that_is_full_keeps_no_more() -> None:
    pool = Pool(idle_limit=10, capacity=1)

    async with serve(say(OK)) as peer:
        first, second = await connect(peer), await connect(peer)
        pool.keep(first, None)
        pool.keep(second, None)

        assert [pool.take(KEY), pool.take(KEY)] == [first, None]
        await peer.wait_until_ended()
        pool.keep(first, None)
        assert pool.take(KEY) is first
        first.abort()


async def test_an_idle_connection_ends_by_itself() -> None:
    pool = Pool(idle_limit=0.05, capacity=10)

    async with serve(say(OK)) as peer:
        pool.keep(await connect(peer), None)
        await peer.wait_until_ended()

        assert pool.take(KEY) is None


async def test_a_connection_is_given_up_a_second_before_its_peer_would_close_it() -> None:
    pool = Pool(idle_limit=10, capacity=10)

    async with serve(say(OK)) as peer:
        kept, late = await connect(peer), await connect(peer)
        clock = asyncio.get_running_loop().time
        begun = clock()
        pool.keep(kept, peer_limit=5)
        ended = clock()
        pool.keep(late, peer_limit=1)

        assert [pool.take(KEY), pool.take(KEY)] == [kept, None]
        assert begun + 4 <= kept.expires_at <= ended + 4
        kept.abort()


async def test_a_connection_that_was_idle_for_too_long_is_not_taken() -> None:
    pool = Pool(idle_limit=10, capacity=10)

    async with serve(say(OK)) as peer:
        connection = await connect(peer)
        pool.keep(connection, None)
        connection.expires_at = 0.0

        assert pool.take(KEY) is None
        await peer.wait_until_ended()
    pool.close()


async def test_a_connection_that_has_ended_is_not_taken() -> None:
    pool = Pool(idle_limit=10, capacity=10)

    async with serve(say(OK)) as peer:
        connection = await connect(peer)
        pool.keep(connection, None)
        connection.abort()

        assert pool.take(KEY) is None


async def test_an_exchange_on_an_ended_connection_sends_nothing() -> None:
    async with serve(say(OK)) as peer:
        connection = await connect(peer)
        connection.abort()
        await peer.wait_until_ended()
        with pytest.raises(ExchangeFailed) as failed:
            await connection.exchange(b"", 10)

    assert failed.value.error is PostError.closed
    assert peer.requests == []


async def test_the_time_of_one_exchange_is_not_the_time_of_the_next() -> None:
    loop, go_on = asyncio.get_running_loop(), asyncio.Event()

    async def answer_later(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await within("the test to let the peer answer", go_on.wait())
        writer.write(OK)

    async with serve(then(say(OK), answer_later)) as peer:
        connection = await connect(peer)
        first = await connection.exchange(REQUEST, 0.5)
        loop.call_later(0.5 + 2 * LOOK_SECONDS, go_on.set)
        second = await connection.exchange(REQUEST, 10)
        connection.abort()

    assert [first.status, second.status] == [200, 200]

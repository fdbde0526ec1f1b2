"""No address takes all the connections of a server."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from app.server.connection_limits import Limits
from tests.http.conftest import Raw, Running, running
from tests.http.test_websocket_limits import HANDSHAKE, TEXT, frame
from tests.waiting import until

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
SLOW = b"GET /slow HTTP/1.1\r\nHost: a\r\n\r\n"
BODY = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n"
GREEDY, OTHER, PROXY = "127.0.0.2", "127.0.1.3", "127.0.0.9"

pytestmark = pytest.mark.anyio


@pytest.fixture
async def small() -> AsyncGenerator[Running]:
    """Give a server with ten places, of which an address has four, and 256 neighbouring addresses seven."""
    async with running(replace(Limits(), connections=10, address_connections=4), forwarded_allow_ips=PROXY) as found:
        yield found


async def is_answered(server: Running, address: str) -> bool:
    raw = await server.connect(address)
    raw.send(GET)
    return (await raw.head()).startswith(b"HTTP/1.1 200 OK")


async def occupy(server: Running, address: str, count: int, request: bytes) -> list[Raw]:
    """Open connections with a request each that the application has begun with."""
    raws = [await server.connect(address) for _ in range(count)]
    begun = len(server.server.server_state.tasks)
    for raw in raws:
        raw.send(request)
    await until(lambda: len(server.server.server_state.tasks) == begun + count)
    return raws


async def test_an_address_whose_share_is_at_work_gets_no_further_connection_and_others_do(small: Running) -> None:
    await occupy(small, GREEDY, 4, SLOW)

    refused = await (await small.connect(GREEDY)).rest()

    assert refused.startswith(b"HTTP/1.1 503 ")
    assert all([await is_answered(small, OTHER) for _ in range(3)])
    assert small.connections() == 7


async def test_a_connection_beyond_the_share_takes_the_place_of_the_oldest_idle_one_of_its_address(
    small: Running,
) -> None:
    other = await small.connect(OTHER)
    oldest, *rest = [await small.connect(GREEDY) for _ in range(4)]
    await until(lambda: small.connections() == 5)

    assert await is_answered(small, GREEDY)

    assert await oldest.rest() == b""
    for raw in (other, *rest):
        raw.send(GET)
        assert (await raw.head()).startswith(b"HTTP/1.1 200 OK")


async def test_an_address_may_replace_the_connections_it_closed(small: Running) -> None:
    for _ in range(3):
        raws = await occupy(small, GREEDY, 4, SLOW)
        for raw in raws:
            raw.writer.close()
        await until(lambda: small.connections() == 0)

    assert await is_answered(small, GREEDY)


async def test_a_websocket_counts_for_its_address_until_it_ends(small: Running) -> None:
    sockets = [await small.connect(GREEDY) for _ in range(4)]
    for raw in sockets:
        raw.send(HANDSHAKE + b"\r\n")
        assert (await raw.head()).startswith(b"HTTP/1.1 101 ")
        raw.send(frame(TEXT, b"a"))
        await raw.reader.readexactly(3)

    refused = await (await small.connect(GREEDY)).rest()
    sockets[0].writer.close()
    await until(lambda: small.connections() == 3)

    assert refused.startswith(b"HTTP/1.1 503 ")
    assert await is_answered(small, GREEDY)


async def test_a_trusted_proxy_may_take_every_place(small: Running) -> None:
    await occupy(small, PROXY, 10, SLOW)

    assert small.connections() == 10


async def test_unfinished_requests_of_many_addresses_leave_a_place_for_each_newcomer(small: Running) -> None:
    """Those of the address that holds most are closed, the oldest first, and the others go on."""
    few = await occupy(small, "127.0.4.1", 2, BODY)
    many = await occupy(small, "127.0.5.1", 4, BODY)
    more = await occupy(small, "127.0.6.1", 4, BODY)
    assert small.connections() == 10

    assert await is_answered(small, OTHER)

    assert await many[0].rest() == b""
    for raw in (*few, *many[1:], *more):
        raw.send(b"x")
        assert (await raw.head()).startswith(b"HTTP/1.1 200 OK")
    assert len(small.requests) == 10


async def test_newcomers_are_answered_while_strangers_open_connections_as_fast_as_they_are_closed(
    small: Running,
) -> None:
    slow = await small.connect(OTHER)
    slow.send(BODY)
    for _ in range(5):
        for address in ("127.0.4.1", "127.0.5.1", "127.0.6.1"):
            for _ in range(4):
                (await small.connect(address)).send(BODY)
        assert await is_answered(small, OTHER)

    slow.send(b"x")

    assert (await slow.head()).startswith(b"HTTP/1.1 200 OK")
    assert small.connections() <= 10


async def test_an_unfinished_request_gives_way_to_a_newcomer_of_its_own_address(small: Running) -> None:
    oldest, *others = await occupy(small, GREEDY, 4, BODY)

    assert await is_answered(small, GREEDY)

    assert await oldest.rest() == b""
    for raw in others:
        raw.send(b"x")
        assert (await raw.head()).startswith(b"HTTP/1.1 200 OK")


async def test_running_requests_do_not_give_way_to_another_address(small: Running) -> None:
    working = await occupy(small, GREEDY, 4, SLOW)
    await occupy(small, "127.0.4.1", 3, SLOW)
    await occupy(small, "127.0.5.1", 3, SLOW)

    refused = await (await small.connect(OTHER)).rest()
    small.is_released = True

    assert refused.startswith(b"HTTP/1.1 503 ")
    for raw in working:
        assert (await raw.head()).startswith(b"HTTP/1.1 200 OK")


async def test_neighbouring_addresses_together_leave_a_quarter_of_the_places_to_others(small: Running) -> None:
    working = await occupy(small, GREEDY, 4, SLOW) + await occupy(small, "127.0.0.3", 3, SLOW)

    refused = await (await small.connect("127.0.0.4")).rest()

    assert refused.startswith(b"HTTP/1.1 503 ")
    assert all([await is_answered(small, OTHER) for _ in range(3)])
    assert small.connections() == 10
    small.is_released = True
    for raw in working:
        assert (await raw.head()).startswith(b"HTTP/1.1 200 OK")


async def test_a_connection_beyond_the_share_of_its_neighbourhood_takes_the_place_of_an_idle_one_there(
    small: Running,
) -> None:
    other = await small.connect(OTHER)
    await occupy(small, GREEDY, 4, SLOW)
    oldest, *rest = [await small.connect(address) for address in ("127.0.0.3", "127.0.0.4", "127.0.0.5")]
    await until(lambda: small.connections() == 8)

    assert await is_answered(small, "127.0.0.6")

    assert await oldest.rest() == b""
    for raw in (other, *rest):
        raw.send(GET)
        assert (await raw.head()).startswith(b"HTTP/1.1 200 OK")


async def test_neighbouring_addresses_may_replace_the_connections_they_closed(small: Running) -> None:
    for last in range(2, 6):
        for raw in await occupy(small, f"127.0.0.{last}", 4, SLOW):
            raw.writer.close()
        await until(lambda: small.connections() == 0)

    assert await is_answered(small, GREEDY)


async def test_the_share_of_an_address_holds_where_it_is_larger_than_that_of_a_neighbourhood() -> None:
    async with running(replace(Limits(), connections=10, address_connections=9)) as large:
        await occupy(large, GREEDY, 9, SLOW)

        refused = await (await large.connect(GREEDY)).rest()

    assert refused.startswith(b"HTTP/1.1 503 ")

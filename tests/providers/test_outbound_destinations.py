"""Destinations of posts: addresses, names and their resolution."""

from collections.abc import AsyncGenerator, Sequence

import pytest

from app.domain.webhooks.errors import InvalidUrl
from app.domain.webhooks.poster import PostError
from app.providers.outbound.client import HttpClient
from tests.providers.peers import NETWORKS, OK, say, serve
from tests.providers.posting import HEADERS, LONG, TLS, Names, open_poster
from tests.waiting import never


@pytest.fixture
async def poster() -> AsyncGenerator[HttpClient]:
    poster = open_poster()
    yield poster
    await poster.close()


async def test_an_address_without_a_listener_is_a_connect_error(poster: HttpClient) -> None:
    async with serve(say(OK)) as peer:
        pass

    reply = await poster.post(peer.url, HEADERS, b"")

    assert (reply.status, reply.error, reply.address) == (None, PostError.connect, "")


@pytest.mark.parametrize("url", ["", "example.com", "ftp://example.com/", "https://me@example.com/", "https://127.1/"])
async def test_a_url_that_is_not_good_is_not_posted_to(url: str) -> None:
    names = Names(["127.0.0.1"])
    poster = open_poster(names)

    reply = await poster.post(url, HEADERS, b"")
    await poster.close()

    assert (reply.status, reply.error, names.asked) == (None, PostError.invalid_url, [])


async def test_in_production_http_is_not_posted_to() -> None:
    poster = HttpClient(allow_http=False, allow_networks=NETWORKS, ssl_context=TLS)

    async with serve(say(OK)) as peer:
        reply = await poster.post(peer.url, HEADERS, b"")
    await poster.close()

    assert (reply.error, peer.connections) == (PostError.invalid_url, 0)


async def test_check_returns_the_normal_form_or_names_the_fault(poster: HttpClient) -> None:
    assert poster.check("HTTP://LOCALHOST:8000") == "http://localhost:8000/"
    with pytest.raises(InvalidUrl, match=r"points to 10\.0\.0\.1"):
        poster.check("https://10.0.0.1/")


async def test_without_allowed_networks_this_machine_is_out_of_reach() -> None:
    poster = HttpClient(allow_http=True, allow_networks=(), ssl_context=TLS)

    async with serve(say(OK)) as peer:
        urls = [peer.url, f"http://localhost:{peer.port}/", f"http://[::ffff:127.0.0.1]:{peer.port}/"]
        replies = [await poster.post(url, HEADERS, b"") for url in urls]
    await poster.close()

    assert [(reply.status, reply.error) for reply in replies] == [(None, PostError.refused_address)] * 3
    assert peer.connections == 0


@pytest.mark.parametrize("bad", ["10.0.0.1", "169.254.169.254", "::ffff:127.0.0.1", "fe80::1%eth0", "64:ff9b::7f00:1"])
async def test_one_bad_address_among_good_ones_refuses_the_name(bad: str) -> None:
    for addresses in (["127.0.0.1", bad], [bad, "127.0.0.1"], [bad]):
        poster = open_poster(Names(addresses))
        async with serve(say(OK)) as peer:
            reply = await poster.post(f"http://hooks.example:{peer.port}/", HEADERS, b"")
        await poster.close()

        assert (reply.status, reply.error, reply.address) == (None, PostError.refused_address, "")
        assert peer.connections == 0


async def test_a_name_is_looked_up_once_for_a_post_and_the_checked_address_is_the_one_connected_to() -> None:
    names = Names(["127.0.0.1"], ["10.0.0.1"])
    poster = open_poster(names)

    async with serve(say(OK)) as peer:
        url = f"http://rebinding.example:{peer.port}/"
        replies = [await poster.post(url, HEADERS, b"") for _ in range(2)]
    await poster.close()

    assert [(reply.status, reply.error, reply.address) for reply in replies] == [
        (200, "", "127.0.0.1"),
        (None, PostError.refused_address, ""),
    ]
    assert names.asked == ["rebinding.example"] * 2
    assert f"host: rebinding.example:{peer.port}\r\n" in peer.requests[0][0]


async def test_a_kept_connection_is_used_only_while_the_name_stands_for_its_address() -> None:
    poster = open_poster(Names(["127.0.0.1"], ["::1", "127.0.0.1"], ["::1"]))

    async with serve(say(OK)) as peer:
        url = f"http://hooks.example:{peer.port}/"
        replies = [await poster.post(url, HEADERS, b"") for _ in range(3)]
    await poster.close()

    assert [reply.error for reply in replies] == ["", "", PostError.connect]
    assert peer.connections == 1


async def test_a_connection_is_not_shared_between_names() -> None:
    poster = open_poster(Names(["127.0.0.1"]))

    async with serve(say(OK)) as peer:
        replies = [await poster.post(f"http://{name}.example:{peer.port}/", HEADERS, b"") for name in "ab"]
    await poster.close()

    assert [reply.status for reply in replies] == [200, 200]
    assert peer.connections == 2


async def test_the_next_address_is_tried_when_the_first_does_not_answer() -> None:
    poster = open_poster(Names(["::1", "::1", "127.0.0.1"]))

    async with serve(say(OK)) as peer:
        reply = await poster.post(f"http://hooks.example:{peer.port}/", HEADERS, b"")
    await poster.close()

    assert (reply.status, reply.address) == (200, "127.0.0.1")


async def test_no_more_than_three_addresses_are_tried() -> None:
    poster = open_poster(Names(["::1", "::1", "::1", "127.0.0.1"]))

    async with serve(say(OK)) as peer:
        reply = await poster.post(f"http://hooks.example:{peer.port}/", HEADERS, b"")
    await poster.close()

    assert (reply.error, peer.connections) == (PostError.connect, 0)


async def test_a_name_without_addresses_is_an_error_of_the_look_up() -> None:
    poster = open_poster(Names([]))

    reply = await poster.post("http://nobody.example/", HEADERS, b"")
    await poster.close()

    assert (reply.status, reply.error, reply.address) == (None, PostError.dns, "")


async def test_a_look_up_that_does_not_end_is_an_error_of_the_look_up() -> None:
    async def look_up(host: str) -> Sequence[str]:
        await never()
        return ["127.0.0.1"]

    poster = HttpClient(True, NETWORKS, 0.05, LONG, look_up, TLS)

    reply = await poster.post("http://slow.example/", HEADERS, b"")
    await poster.close()

    assert (reply.status, reply.error) == (None, PostError.dns)
    assert reply.duration < LONG


async def test_ipv6_is_posted_to(poster: HttpClient) -> None:
    async with serve(say(OK), host="::1") as peer:
        reply = await poster.post(f"http://[::1]:{peer.port}/", HEADERS, b"")

    assert (reply.status, reply.address) == (200, "::1")
    assert f"host: [::1]:{peer.port}\r\n" in peer.requests[0][0]

"""Reading documents from addresses that strangers have chosen."""

import asyncio
from collections.abc import AsyncGenerator

import pytest

from app.domain.oauth.documents import MAX_BYTES, Unfetched
from app.providers.outbound import documents
from app.providers.outbound.client import HttpClient
from app.providers.outbound.documents import DocumentReader
from tests.providers.peers import NETWORKS, repeat, say, serve

pytestmark = pytest.mark.anyio


@pytest.fixture
async def poster() -> AsyncGenerator[HttpClient]:
    poster = HttpClient(allow_http=True, allow_networks=NETWORKS)
    yield poster
    await poster.close()


@pytest.fixture
def reader(poster: HttpClient) -> DocumentReader:
    return DocumentReader(poster, "messaging-oauth/1")


def answer(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = "".join(f"{header}\r\n" for header in headers)
    return f"HTTP/1.1 {status}\r\n{lines}content-length: {len(body)}\r\n\r\n".encode() + body


async def failure(reader: DocumentReader, url: str) -> str:
    with pytest.raises(Unfetched) as caught:
        await reader.fetch(url)
    return str(caught.value)


async def test_a_document_is_asked_for_and_read(reader: DocumentReader):
    async with serve(say(answer(b"{}"))) as peer:
        fetched = await reader.fetch(peer.url)

    [(head, _)] = peer.requests
    assert (fetched.body, fetched.max_age) == (b"{}", None)
    assert head.splitlines()[0] == "GET /hook HTTP/1.1"
    assert "user-agent: messaging-oauth/1" in head
    assert "content-length" not in head


@pytest.mark.parametrize(
    ("header", "max_age"),
    [
        ("cache-control: max-age=60", 60.0),
        ("cache-control: public, max-age=3600, immutable", 3600.0),
        ("cache-control: no-store", 0.0),
        ("cache-control: private, no-cache", 0.0),
        ("cache-control: s-max-age=60", None),
        ("cache-control: max-age=soon", None),
    ],
)
async def test_it_says_for_how_long_it_may_be_kept(reader: DocumentReader, header: str, max_age: float | None):
    async with serve(say(answer(b"{}", header))) as peer:
        assert (await reader.fetch(peer.url)).max_age == max_age


async def test_a_whole_document_of_the_largest_size_is_read_and_more_is_seen_to_be_more(reader: DocumentReader):
    for size in (MAX_BYTES, MAX_BYTES + 1, 10 * MAX_BYTES):
        async with serve(say(answer(b"x" * size))) as peer:
            assert len((await reader.fetch(peer.url)).body) == min(size, MAX_BYTES + 1)


async def test_a_document_without_end_is_cut(reader: DocumentReader):
    async with serve(repeat(b"x" * 4096, b"HTTP/1.1 200 OK\r\n\r\n")) as peer:
        assert len((await reader.fetch(peer.url)).body) == MAX_BYTES + 1


@pytest.mark.parametrize("status", ["302 Found", "404 Not Found", "204 No Content", "500 Oops"])
async def test_only_a_plain_answer_counts_and_redirects_are_not_followed(reader: DocumentReader, status: str):
    async with serve(say(answer(b"{}", "location: /elsewhere", status=status))) as peer:
        said = await failure(reader, peer.url)

    assert said == f"its address answered with the status {status[:3]}."
    assert len(peer.requests) == 1


async def test_an_address_that_is_slow_is_given_up(reader: DocumentReader, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(documents, "TIMEOUT", 1.0)

    async def never(*_: object) -> None:
        await asyncio.sleep(60)

    async with serve(never) as peer:
        assert await failure(reader, peer.url) == "its address could not be read (timeout)."


@pytest.mark.parametrize(
    "url",
    [
        "https://10.0.0.1/client.json",
        "https://169.254.169.254/latest/meta-data",
        "https://[fd00::1]/client.json",
        "https://[::ffff:10.0.0.1]/client.json",
        "https://0.0.0.0/client.json",
    ],
)
async def test_an_address_that_is_not_public_is_refused(reader: DocumentReader, url: str):
    assert await failure(reader, url) == "its address could not be read (refused_address)."


@pytest.mark.parametrize("url", ["ftp://example.com/x", "https://user@example.com/x", "https://127.1/x", "nonsense"])
async def test_an_invalid_address_is_refused(reader: DocumentReader, url: str):
    assert await failure(reader, url) == "its address could not be read (invalid_url)."

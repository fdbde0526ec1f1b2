"""Looking on while Redis is away, and while one who looks does not read."""

import asyncio
import shutil
import socket
import tempfile
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path

import orjson
import pytest

from app.domain.live import feed
from app.domain.onboarding.service import Opened
from app.jobs import live
from app.jobs.live import Announcer
from app.services import Services
from tests.factories.events import record_many
from tests.graphql.live import KINDS, Scene, Served, serving, talking
from tests.jobs.conftest import Valkey
from tests.waiting import within

pytestmark = pytest.mark.anyio


@pytest.fixture
def valkey() -> Iterator[Valkey]:
    """Start a Valkey that may be killed."""
    folder = Path(tempfile.mkdtemp(prefix="valkey-"))
    valkey = Valkey(folder)
    valkey.start()
    yield valkey
    valkey.close()
    shutil.rmtree(folder)


@pytest.fixture
async def lonely(services: Services, valkey: Valkey) -> AsyncGenerator[Served]:
    """Serve with a Redis of its own."""
    async with serving(services.settings.model_copy(update={"redis_url": valkey.url})) as served:
        yield served


async def test_updates_arrive_while_redis_is_away_and_when_it_is_back(
    lonely: Served, valkey: Valkey, services: Services, account: Opened, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(live, "AWAY_SECONDS", 0.2)
    announcer = Announcer(valkey.url)
    scene = Scene(services, account, announcer)
    async with talking(lonely.address, account.svc_key) as talk:
        await talk.subscribe(kinds=["new_message"])
        bodies: list[str] = []
        for body, before in (("There", None), ("Away", valkey.kill), ("Away again", None), ("Back", valkey.start)):
            if before:
                before()
            await scene.receive(body)
            bodies.append((await talk.next())["message"]["body"])
    await announcer.aclose()

    assert bodies == ["There", "Away", "Away again", "Back"]


async def test_updates_that_a_client_does_not_read_wait_in_the_database(
    served: Served, scene: Scene, services: Services, monkeypatch: pytest.MonkeyPatch
):
    reads: list[int] = []
    read = feed.Feed.read

    async def counted(self: feed.Feed, account_id: int, position: int) -> list[feed.Update]:
        reads.append(position)
        return await read(self, account_id, position)

    monkeypatch.setattr(feed.Feed, "read", counted)
    await record_many(services, scene.account.account_id, 4 * feed.PAGE)
    await scene.dispatch()
    large = " ".join(f"{'a' * 1000}{number}: kind" for number in range(30))  # 30 kB for each update
    reader, writer = await _ask(served, scene, f"subscription {{ updates(after: 0) {{ {large} }} }}")

    newest = await scene.newest()  # whoever follows from here reads nothing of what came before
    async with talking(served.address, scene.account.svc_key) as talk:
        await talk.subscribe(KINDS, after=newest)
        await scene.receive("Hello")
        await talk.next()
        await asyncio.sleep(0.5)
        read_while_nobody_took = [position for position in reads if position < newest]
    taken = 0
    while taken < 4 * feed.PAGE:
        taken += (await within("the next line of the peer", reader.readline())).startswith(b"event: next")
    writer.close()

    assert len(read_while_nobody_took) < 4


async def _ask(served: Served, scene: Scene, query: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Ask for server-sent events, and read no more than the head of the answer."""
    host, _, port = served.address.partition("/")[0].partition(":")
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    plain.connect((host, int(port)))
    reader, writer = await asyncio.open_connection(sock=plain, limit=65536)
    body = orjson.dumps({"query": query})
    head = (
        f"POST /graphql HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {scene.account.svc_key}\r\n"
        f"Accept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    await reader.readuntil(b"\r\n\r\n")
    return reader, writer

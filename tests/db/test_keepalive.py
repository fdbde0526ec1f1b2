"""Sockets towards PostgreSQL and Redis, whose peers may vanish without a word."""

import asyncio
import re
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import uvloop
from sqlalchemy import text

from app import keepalive
from app.db.engine import connect
from app.db.redis import AWAY, open_redis
from app.domain.kernel.clock import Clock
from app.jobs.broker import make_broker
from app.jobs.live import Announcer, Listener
from app.jobs.notifier import Notifier
from app.providers.attempts import RedisAttempts
from app.providers.rate_limits import Rates
from app.settings import Settings
from app.urls import split

pytestmark = pytest.mark.anyio

LINUX = {"TCP_KEEPIDLE": 15, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 30_000}
WATCHED = {name: value for name, value in LINUX.items() if hasattr(socket, name)}
CLIENTS: list[Callable[[str], Any]] = [
    Announcer,
    Listener,
    Rates,
    lambda url: RedisAttempts(url, Clock()),
]


@asynccontextmanager
async def relayed(path: str) -> AsyncGenerator[int]:
    """Make a server on a Unix socket reachable over TCP; give the port."""

    relays: set[asyncio.Task[None]] = set()

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65_536):
                writer.write(data)
            writer.write_eof()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        relays.add(asyncio.current_task())
        there, back = await asyncio.open_unix_connection(path)
        try:
            await asyncio.gather(relay(reader, back), relay(there, writer))
        finally:
            for each in (writer, back):
                each.close()

    async with await asyncio.start_server(accept, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]
    await asyncio.wait(relays, timeout=20)


@pytest.fixture
async def database_by_tcp(settings: Settings) -> AsyncGenerator[str]:
    """Give the address of the database over TCP."""
    parts = split(settings.database_url or "")
    folder = re.findall(r"host=([^&]+)", parts.query)[0]
    user = f"{parts.username}@" if parts.username else ""
    async with relayed(f"{folder}/.s.PGSQL.5432") as port:
        yield f"postgresql://{user}127.0.0.1:{port}{parts.path}"


@pytest.fixture
async def redis_by_tcp(settings: Settings) -> AsyncGenerator[str]:
    """Give the address of Valkey over TCP."""
    async with relayed(split(settings.redis_url or "").path) as port:
        yield f"redis://127.0.0.1:{port}/0"


def watch_of(sock: Any) -> dict[str, int]:
    assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
    return {name: sock.getsockopt(socket.IPPROTO_TCP, getattr(socket, name)) for name in WATCHED}


async def test_a_connection_of_the_pool_notices_within_30_seconds_that_the_database_vanished(database_by_tcp: str):
    database = await connect(database_by_tcp, 2)

    async with database.pool.acquire() as connection:
        lent: Any = connection
        assert watch_of(lent._con._transport.get_extra_info("socket")) == WATCHED
    await database.close()


async def test_a_connection_of_a_session_notices_within_30_seconds_that_the_database_vanished(database_by_tcp: str):
    database = await connect(database_by_tcp, 2)

    async with database.engine.connect() as connection:
        await connection.execute(text("SELECT 1"))
        raw: Any = (await connection.get_raw_connection()).driver_connection
        assert watch_of(raw._transport.get_extra_info("socket")) == WATCHED
    await database.close()


@pytest.mark.parametrize("make", CLIENTS)
async def test_a_client_of_redis_notices_within_30_seconds_that_redis_vanished(
    make: Callable[[str], Any], redis_by_tcp: str
):
    client = make(redis_by_tcp)

    connection = await client._redis.connection_pool.get_connection()
    assert watch_of(connection._writer.get_extra_info("socket")) == WATCHED

    await connection.disconnect()
    await client._redis.aclose()


@pytest.mark.parametrize("make", [lambda url: make_broker(url, []), lambda url: Notifier(url)._broker])
async def test_a_broker_notices_within_30_seconds_that_redis_vanished(make: Callable[[str], Any], redis_by_tcp: str):
    client: Any = make(redis_by_tcp).client

    connection = await asyncio.to_thread(client.connection_pool.get_connection)
    assert watch_of(connection._sock) == WATCHED

    client.close()


def test_clients_of_redis_are_made_in_one_place():
    texts = {path.name: path.read_text() for path in Path(keepalive.__file__).parent.rglob("*.py")}

    assert {name for name, text in texts.items() if "Redis.from_url(" in text} == {"redis.py"}


async def test_a_connection_that_the_system_has_closed_is_a_redis_that_is_away(redis_by_tcp: str):
    loop = uvloop.new_event_loop()

    async def ask() -> None:
        client = open_redis(redis_by_tcp, 1)
        await client.ping()
        connection: Any = await client.connection_pool.get_connection()
        connection._writer.transport.abort()
        await asyncio.sleep(0)
        await client.connection_pool.release(connection)
        with suppress(*AWAY):
            await client.ping()
        await client.aclose()

    try:
        await asyncio.to_thread(loop.run_until_complete, ask())
    finally:
        loop.close()


def test_a_unix_socket_is_not_watched():
    ours, theirs = socket.socketpair()

    assert not keepalive.watch(ours, keepalive.SERVERS)
    ours.close()
    theirs.close()

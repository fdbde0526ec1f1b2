"""The embedded servers at work: their addresses, their settings, who may reach them."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from redis import Redis
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from app.embedded.servers import Servers
from tests.embedded.probes import ask, servers_of


@pytest.fixture(scope="module")
def servers(data: Path) -> Iterator[Servers]:
    servers = Servers.start(data)
    yield servers
    servers.stop()


def test_asyncpg_takes_the_database_address(servers: Servers) -> None:
    assert ask(servers.database_url, "SELECT current_database()") == "messaging"


def test_sqlalchemy_takes_the_database_address(servers: Servers) -> None:
    async def database() -> str | None:
        engine = create_async_engine(servers.database_url.replace("postgresql://", "postgresql+asyncpg://", 1))
        async with engine.connect() as connection:
            name = await connection.scalar(text("SELECT current_database()"))
        await engine.dispose()
        return name

    assert asyncio.run(database()) == "messaging"


@pytest.mark.parametrize("setting", ["fsync", "synchronous_commit", "full_page_writes"])
def test_postgresql_writes_before_it_confirms(servers: Servers, setting: str) -> None:
    assert ask(servers.database_url, f"SHOW {setting}") == "on"


@pytest.mark.parametrize(
    ("setting", "value"), [("appendonly", "yes"), ("appendfsync", "everysec"), ("maxmemory-policy", "noeviction")]
)
def test_valkey_writes_every_second_and_evicts_nothing(servers: Servers, setting: str, value: str) -> None:
    with Redis.from_url(servers.redis_url, decode_responses=True) as redis:
        assert redis.config_get(setting) == {setting: value}


def test_order_and_case_do_not_depend_on_the_machine(servers: Servers) -> None:
    locale = "SELECT datlocprovider::text || ' ' || datlocale FROM pg_database WHERE datname = 'messaging'"
    ordered = "SELECT string_agg(name, '' ORDER BY name) FROM unnest(ARRAY['é', 'b', 'B', 'a']) name"

    assert ask(servers.database_url, locale) == "b C.UTF-8"
    assert ask(servers.database_url, ordered) == "Babé"
    assert ask(servers.database_url, "SELECT upper('é')") == "É"


def test_no_server_listens_on_the_network(servers: Servers, data: Path) -> None:
    processes = servers_of(data)

    assert {process.name() for process in processes} == {"postgres", "valkey-server"}
    assert [process.net_connections("inet") for process in processes if process.net_connections("inet")] == []


def test_no_server_runs_as_root(servers: Servers, data: Path) -> None:
    assert 0 not in {process.uids().effective for process in servers_of(data)}


def test_only_the_account_of_the_servers_may_enter_the_folder_of_their_sockets(servers: Servers, data: Path) -> None:
    folder = Path(parse_qs(urlsplit(servers.database_url).query)["host"][0])

    status = folder.stat()

    assert status.st_mode & 0o777 == 0o700
    assert status.st_uid == (data / "postgres").stat().st_uid

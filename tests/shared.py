"""Services and applications that the tests of a process share, and the clearing between tests."""

import asyncio
import shutil
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext
from typing import Any

import asyncpg
import pytest
from redis.asyncio import Redis

from app import main
from app.bootstrap import METADATA, open_services
from app.domain.oauth import signing
from app.main import create_app
from app.providers.limits import Limits
from app.services import Services
from app.settings import Settings
from tests.factories.traps import OBSERVER
from tests.waiting import PATIENCE_SECONDS, within

NO_FLUSH_SECONDS = 24 * 3600.0
"""The time after which shared services write counts by themselves: a later test would find those of an earlier one.

A callback or receipt may be counted while the tables are emptied. Tests of counts call `flush`.
"""

PATIENT = {"socket_connect_timeout": PATIENCE_SECONDS, "socket_timeout": PATIENCE_SECONDS}
"""The time for an answer of Valkey: on a busy machine it may be later than a limit waits, and not be counted."""


def wait_for_valkey(counter: Any) -> None:
    """Have a counter wait for a late answer of Valkey instead of leaving a request uncounted."""
    counter._redis.connection_pool.connection_kwargs |= PATIENT


def keep_windows(limits: Limits) -> None:
    """Have the limits cache their windows now: one that a test sets for a while would stay for the later tests."""
    for policy in (limits.requests, limits.sends, limits.documents, limits.anonymous):
        assert policy.window
        assert policy.costs
        assert policy.header


class Shared:
    """Opens services and their application once for each settings object; `stack` closes them."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self._services: list[Services] = []
        self._valkeys: dict[str, Redis] = {}
        self._emptying: dict[str, asyncpg.Connection] = {}
        self._apps: dict[int, Any] = {}

    async def services(self, settings: Settings) -> Services:
        """Return the services for settings."""
        for services in self._services:
            if services.settings == settings:
                return services
        return await self._stack.enter_async_context(self.open(settings))

    @asynccontextmanager
    async def open(self, settings: Settings, statement_seconds: float = 0) -> AsyncGenerator[Services]:
        """Open services that are cleared with the others until they are closed."""
        async with open_services(settings, statement_seconds) as services:
            services.health._later.seconds = NO_FLUSH_SECONDS
            wait_for_valkey(services.limits.rates)
            wait_for_valkey(services.limits.shares)
            wait_for_valkey(services.authentication.attempts)
            wait_for_valkey(services.places)
            keep_windows(services.limits)
            self._services.append(services)
            try:
                yield services
            finally:
                self._services = [each for each in self._services if each is not services]

    async def app(self, services: Services) -> Any:
        """Return the running application of services of this class."""
        if id(services) not in self._apps:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(main, "open_services", lambda *_: nullcontext(services))
                starting = running(create_app(services.settings))
                self._apps[id(services)] = await self._stack.enter_async_context(starting)
        return self._apps[id(services)]

    async def clear(self, services: Services) -> None:
        """Empty everything that a test may have written: tables, Valkey, mail and in-process caches."""
        for each in self._services:
            await each.acceptor.close()
            await each.authentication.close()
        await empty(await self._emptier(services.settings.database_url or ""))
        await self._flush(services.settings.redis_url or "")
        shutil.rmtree(services.settings.data, ignore_errors=True)
        for each in self._services:
            each.connections.expire()
            each.handoff._promotions._urgent_until = 0.0
            each.oauth.key_ring._known, each.oauth.key_ring._read_at = {}, signing.NEVER
            each.limits.rates._held.clear()
            each.health._counts.clear()

    async def _emptier(self, database_url: str) -> asyncpg.Connection:
        """Return a connection without triggers, which waits for locks for a limited time."""
        known = self._emptying.get(database_url)
        if known is None or known.is_closed():
            options = {"lock_timeout": "10s", "session_replication_role": "replica", "application_name": OBSERVER}
            self._emptying[database_url] = await asyncpg.connect(database_url, server_settings=options)
            self._stack.push_async_callback(self._emptying[database_url].close)
        return self._emptying[database_url]

    async def _flush(self, redis_url: str) -> None:
        if redis_url not in self._valkeys:
            self._valkeys[redis_url] = await self._stack.enter_async_context(Redis.from_url(redis_url))
        await self._valkeys[redis_url].flushdb()


@asynccontextmanager
async def running(app: Any) -> AsyncGenerator[Any]:
    """Start and stop an ASGI application as a server does."""
    incoming: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    outgoing: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    task = asyncio.create_task(
        app({"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, incoming.get, outgoing.put)
    )
    incoming.put_nowait({"type": "lifespan.startup"})
    assert (await within("the application", outgoing.get()))["type"] == "lifespan.startup.complete"
    yield app
    incoming.put_nowait({"type": "lifespan.shutdown"})
    assert (await within("the application", outgoing.get()))["type"] == "lifespan.shutdown.complete"
    await task


async def empty(connection: asyncpg.Connection) -> None:
    """Empty every table; fail if a test left a transaction open, with its query."""
    try:
        await connection.execute(EMPTY)
    except asyncpg.LockNotAvailableError:
        left = [(row["state"], row["query"]) for row in await connection.fetch(END_OTHERS)]
        await connection.execute(EMPTY)
        pytest.fail(f"The test left transactions open: {left}")


END_OTHERS = """
SELECT state, query, pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()
"""

CHANGED = {
    "carrier_connections": " WHERE key <> 'sandbox' OR revision > 1",
    "payment_installations": " WHERE id > 1",
}
"""Conditions of the rows that differ from those of a migrated database."""

TABLES = [table.name for table in METADATA.sorted_tables]
MAKE_EMPTY = f"""
CREATE OR REPLACE FUNCTION empty_tables() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('session_replication_role') <> 'replica' THEN
    PERFORM set_config('session_replication_role', 'replica', true);
  END IF;
  IF EXISTS (
    SELECT FROM pg_stat_get_activity(NULL)
    WHERE datid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND xact_start IS NOT NULL
    AND backend_type = 'client backend' AND pid <> pg_backend_pid()
  ) THEN
    LOCK TABLE {", ".join(TABLES)} IN ACCESS EXCLUSIVE MODE;
  END IF;
  {" ".join(f"DELETE FROM {table}{CHANGED.get(table, '')};" for table in reversed(TABLES))}
  INSERT INTO carrier_connections (key, kind, name, revision) VALUES ('sandbox', 'sandbox', 'Sandbox', 0)
  ON CONFLICT DO NOTHING;
END $$
"""
"""Creates a function that empties every table, children first, without triggers.

Its plans are cached, so it takes a fraction of the time of a `DO` block; TRUNCATE takes far longer for tables with few
rows. PostgreSQL discards the plans when the replication role changes, which makes a call take five times as long: a
connection that calls often has the role from its start.

The tables are locked to wait for transactions that are open, and only then: locks cost twice as much as the deletions.
"""

EMPTY = "SELECT empty_tables()"

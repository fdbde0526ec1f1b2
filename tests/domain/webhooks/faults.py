"""Pools and delivery workers with injected faults."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import asyncpg

from app.db.engine import Pool
from app.domain.webhooks.delivery_workers import DeliveryWorkers
from tests.factories.traps import LosingPool
from tests.waiting import within


class Gated:
    """A pool that delays the result of the first use of a statement, or of a connection, until its release."""

    def __init__(self, pool: Pool, statement: str) -> None:
        self._pool, self._statement = pool, statement
        self.kept, self.go = asyncio.Event(), asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)

    async def fetch(self, query: str, *args: Any) -> Any:
        rows = await self._pool.fetch(query, *args)
        if query == self._statement:
            await self.keep()
        return rows

    @asynccontextmanager
    async def acquire(self) -> AsyncGenerator[Any]:
        async with self._pool.acquire() as connection:
            yield connection
        await self.keep()

    async def keep(self) -> None:
        if not self.kept.is_set():
            self.kept.set()
            await within("the test to let it go on", self.go.wait())


class Flaky:
    """A pool on which a statement fails a number of times; `count` is that of its uses."""

    def __init__(self, pool: Pool, statement: str, error: Exception, times: int) -> None:
        self._pool, self._statement, self._error, self.left = pool, statement, error, times
        self.count = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)

    async def fetch(self, query: str, *args: Any) -> Any:
        self.count += query == self._statement
        if query == self._statement and self.left:
            self.left -= 1
            raise self._error
        return await self._pool.fetch(query, *args)


class Away(LosingPool):
    """A pool that loses a connection after a commit, and is unreachable afterwards."""

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool)
        self.asked = asyncio.Event()

    async def execute(self, query: str, *args: Any) -> str:
        self.asked.set()
        raise asyncpg.PostgresConnectionError("gone")


def with_parts(engine: DeliveryWorkers, **parts: Any) -> DeliveryWorkers:
    return DeliveryWorkers(replace(engine.shared, **parts))

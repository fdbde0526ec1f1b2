"""The transactions of batches of sends: one can begin while the batch before it is decided."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from app.db.engine import PLAN_ONCE, UNREACHABLE, Connection, Pool, is_lost

Begun = tuple[Connection, AsyncExitStack]
"""A connection in a transaction, and the stack that releases it."""


class BatchTransactions:
    """Begins the transactions of batches on connections of a pool; `close` it at the end."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._prepared: asyncio.Task[Begun] | None = None

    def prepare(self) -> None:
        """Begin the transaction of the next batch, which then waits neither for a connection nor for the server."""
        if self._prepared is None:
            self._prepared = asyncio.create_task(self._begin())

    @asynccontextmanager
    async def open(self, *, takes_prepared: bool = False) -> AsyncGenerator[Connection]:
        """Yield a connection in a transaction, which is rolled back if the block raises.

        With `takes_prepared`, it is the prepared transaction if there is one. The block commits it, and may use the
        connection afterwards.
        """
        connection, stack = await (self._take() if takes_prepared else self._begin())
        async with stack:
            try:
                yield connection
            except BaseException:
                with suppress(*UNREACHABLE):
                    await connection.execute("ROLLBACK")
                raise

    async def close(self) -> None:
        """Roll back the prepared transaction."""
        if self._prepared:
            with suppress(*UNREACHABLE):
                async with self.open(takes_prepared=True) as connection:
                    await connection.execute("ROLLBACK")

    async def _take(self) -> Begun:
        prepared, self._prepared = self._prepared, None
        if prepared is None:
            return await self._begin()
        connection, stack = await prepared
        if not is_lost(connection):
            return connection, stack
        await stack.aclose()
        return await self._begin()

    async def _begin(self) -> Begun:
        async with AsyncExitStack() as stack:
            connection = await stack.enter_async_context(self._pool.acquire())
            await connection.execute(f"BEGIN; {PLAN_ONCE}")
            return connection, stack.pop_all()

"""Takes recorded events in order and runs the reactions of the areas."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from app.db.engine import UNREACHABLE, Connection, Database
from app.domain.events import sql
from app.domain.events.reactions import Batch, OutboxEvent, Reaction, Watcher
from app.domain.kernel.clock import Clock
from app.domain.kernel.unit_of_work import Notify

BATCH = 500
ACCOUNTS = 50
"""How many accounts a batch has events of, at most; each of them is a lock."""


@dataclass(slots=True)
class Cursor:
    """The last account of the last batch, where that had no room for more accounts; else 0."""

    account_id: int = 0


@dataclass(frozen=True, slots=True)
class Dispatcher:
    """Dispatches each event once: its reactions and its deletion from the outbox are one transaction.

    A transaction holds the accounts that it dispatches events of, so that events of one account are dispatched in
    order, and those of others at the same time, in other slots and processes. Each account has an equal share of a
    batch, and accounts take turns. A reaction for which the database was unreachable, or which another transaction
    interrupted, is run again with the whole batch.
    """

    database: Database
    clock: Clock
    notify: Notify
    reactions: Sequence[Reaction] = ()
    watchers: Sequence[Watcher] = ()
    _cursor: Cursor = field(default_factory=Cursor)

    async def run(self) -> bool:
        """Dispatch one batch; return True when more may be due."""
        async with self.database.pool.acquire() as connection, connection.transaction():
            waiting = await self._take(connection)
            if not waiting:
                return False
            events = [OutboxEvent(*row) for row in waiting if row["name"] is not None]
            batch = Batch(connection, events, self.clock.now())
            for reaction in self.reactions:
                await _react(reaction, batch)
            done = [row["account_id"] for row in waiting], [row["event_id"] for row in waiting]
            await connection.execute(sql.DELETE, *done)
        for topic in batch.topics:
            self.notify(topic)
        for watch in self.watchers:
            await watch(batch.events)
        return await self.due()

    async def due(self) -> bool:
        """Tell whether an event is due for dispatch."""
        return await self.database.pool.fetchval(sql.IS_DUE, 0)

    async def _take(self, connection: Connection) -> Sequence[Any]:
        """Hold accounts, the next ones first, and return the oldest rows of each in the outbox, in order."""
        await connection.execute(sql.BEGIN)
        account_ids = await self._take_accounts(connection, self._cursor.account_id)
        if not account_ids and self._cursor.account_id:
            account_ids = await self._take_accounts(connection, 0)
        self._cursor.account_id = account_ids[-1] if len(account_ids) == ACCOUNTS else 0
        share = -(-BATCH // max(1, len(account_ids)))
        return await connection.fetch(sql.FIND_EVENTS, account_ids, share) if account_ids else ()

    async def _take_accounts(self, connection: Connection, after: int) -> Sequence[int]:
        return [row["account_id"] for row in await connection.fetch(sql.TAKE_ACCOUNTS, after, ACCOUNTS)]


async def _react(reaction: Reaction, batch: Batch) -> None:
    if reaction.required:
        await reaction.run(batch)
        return
    try:
        async with batch.connection.transaction():
            await reaction.run(batch)
    except UNREACHABLE:
        raise
    except Exception as error:
        last = batch.events[-1].id
        context = {"message": f"events up to {last} were not reacted to", "exception": error}
        asyncio.get_running_loop().call_exception_handler(context)

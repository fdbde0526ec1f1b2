"""Dispatches recorded events in order: runs the reactions of the areas."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.db.engine import CONTENDED, UNREACHABLE, Connection, Database
from app.db.rows import integers
from app.domain.events import failures, sql
from app.domain.events.isolation import isolate
from app.domain.events.pauses import Pauses
from app.domain.events.reactions import AccountsBusy, Batch, OutboxEvent, Reaction, Watcher
from app.domain.kernel.clock import Clock
from app.domain.kernel.unit_of_work import Notify

BATCH = 500
ACCOUNTS = 50
"""The maximum number of accounts in a batch; each takes a lock."""


@dataclass(slots=True)
class Cursor:
    """The last account of a batch that reached `ACCOUNTS`, where the next batch continues; otherwise 0."""

    account_id: int = 0


@dataclass(frozen=True, slots=True)
class Dispatcher:
    """Dispatches each event once: its reactions and its deletion from the outbox are one transaction.

    A transaction holds advisory locks on its accounts. So the events of one account are dispatched in order, while
    other slots and processes dispatch those of other accounts. Each account has an equal share of a batch, and accounts
    take turns. If a reaction fails, the batch is dispatched again without that reaction for the events that make it
    fail. An account with rows locked by another transaction is skipped for a moment.
    """

    database: Database
    clock: Clock
    notify: Notify
    reactions: Sequence[Reaction] = ()
    watchers: Sequence[Watcher] = ()
    _cursor: Cursor = field(default_factory=Cursor)
    _pauses: Pauses = field(default_factory=Pauses)

    async def run(self) -> bool:
        """Dispatch one batch; return True when more may be due."""
        try:
            batch = await self._dispatch_or_isolate()
        except AccountsBusy as busy:
            seconds = self._pauses.begin(busy.account_ids)
            asyncio.get_running_loop().call_later(seconds, self.notify, "events")
            return await self.due()
        if batch is None:
            return False
        self._pauses.end(batch.find_accounts())
        for topic in batch.topics:
            self.notify(topic)
        for watch in self.watchers:
            await watch(batch.events)
        return await self.due()

    async def due(self) -> bool:
        """Return whether an event is due for dispatch."""
        return await self.database.pool.ask(sql.IS_DUE, self._pauses.current())

    async def _dispatch_or_isolate(self) -> Batch | None:
        try:
            return await self._dispatch(self._react)
        except AccountsBusy:
            raise
        except Exception as error:
            if isinstance(error, UNREACHABLE) and not isinstance(error, CONTENDED):
                raise
            return await self._dispatch(self._react_apart)

    async def _dispatch(self, react: Callable[[Batch], Awaitable[None]]) -> Batch | None:
        """Dispatch a batch; return None if no account with waiting events could be locked."""
        async with self.database.pool.acquire() as connection, connection.transaction():
            waiting = await self._take(connection)
            if not waiting:
                return None
            events = [OutboxEvent(*row) for row in waiting if row["name"] is not None]
            batch = Batch(connection, events, self.clock.now())
            if events:
                await react(batch)
            done = [row["account_id"] for row in waiting], [row["event_id"] for row in waiting]
            await connection.execute(sql.DELETE, *map(integers, done))
        return batch

    async def _react(self, batch: Batch) -> None:
        for reaction in self.reactions:
            await reaction.run(batch)

    async def _react_apart(self, batch: Batch) -> None:
        """Run each reaction, and record the events that make it fail."""
        for reaction in self.reactions:
            failed = await isolate(reaction, batch)
            if failed:
                await failures.record(batch, failed)

    async def _take(self, connection: Connection) -> Sequence[Any]:
        """Lock the next accounts, and return their oldest rows of the outbox in order."""
        await connection.execute(sql.BEGIN)
        account_ids = await self._take_accounts(connection, self._cursor.account_id)
        if not account_ids and self._cursor.account_id:
            account_ids = await self._take_accounts(connection, 0)
        self._cursor.account_id = account_ids[-1] if len(account_ids) == ACCOUNTS else 0
        share = -(-BATCH // max(1, len(account_ids)))
        return await connection.fetch(sql.FIND_EVENTS, account_ids, share) if account_ids else ()

    async def _take_accounts(self, connection: Connection, after: int) -> Sequence[int]:
        rows = await connection.fetch(sql.TAKE_ACCOUNTS, self._pauses.current(), after, ACCOUNTS)
        return [row["account_id"] for row in rows]

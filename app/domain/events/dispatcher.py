"""Takes recorded events in order and runs the reactions of the areas."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from app.db.engine import UNREACHABLE, Connection, Database
from app.domain.events import sql
from app.domain.events.reactions import Batch, OutboxEvent, Reaction, Watcher
from app.domain.kernel.clock import Clock
from app.domain.kernel.events import live_kind_of
from app.domain.kernel.unit_of_work import Notify

BATCH = 500
LOCK = 7_236_452
"""Key of the advisory lock that lets one dispatcher work at a time, so that a later event never overtakes one."""

HOLD = "SELECT pg_advisory_xact_lock($1)"


@dataclass(frozen=True, slots=True)
class Dispatcher:
    """Dispatches each event once: its reactions and its mark are one transaction.

    A reaction for which the database was unreachable, or which another transaction interrupted, is run again with the
    whole batch.
    """

    database: Database
    clock: Clock
    notify: Notify
    reactions: Sequence[Reaction] = ()
    watchers: Sequence[Watcher] = ()

    async def run(self) -> bool:
        """Dispatch one batch; return True when more may be due."""
        async with self.database.pool.acquire() as connection, connection.transaction():
            await connection.execute(HOLD, LOCK)
            batch = Batch(connection, await find_events(connection, BATCH), self.clock.now())
            for reaction in self.reactions:
                await _react(reaction, batch)
            live = [live_kind_of(event.name) is not None for event in batch.events]
            await connection.execute(sql.MARK_DISPATCHED, [event.id for event in batch.events], live, batch.now)
        for topic in batch.topics:
            self.notify(topic)
        for watch in self.watchers:
            await watch(batch.events)
        return await self.due()

    async def due(self) -> bool:
        """Tell whether an event is due for dispatch."""
        return await self.database.pool.fetchval(sql.IS_DUE)


async def find_events(connection: Connection, limit: int) -> Sequence[OutboxEvent]:
    """Return the oldest events that were not dispatched, in order."""
    return [OutboxEvent(*row) for row in await connection.fetch(sql.FIND_UNDISPATCHED, limit)]


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
        last = batch.events[-1].id if batch.events else None
        context = {"message": f"events up to {last} were not reacted to", "exception": error}
        asyncio.get_running_loop().call_exception_handler(context)

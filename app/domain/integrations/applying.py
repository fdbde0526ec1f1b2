"""Applies stored events: each in one transaction with everything that follows from it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import select, text, update

from app.db.engine import Database
from app.db.rows import fetch
from app.domain.integrations import bookings, endings, hook_actions
from app.domain.integrations.bookings import Applied
from app.domain.integrations.models import WEBHOOK, EventStatus, Integration, IntegrationStatus
from app.domain.integrations.models import IntegrationEvent as Event
from app.domain.integrations.scheduling import Unreadable
from app.domain.integrations.service import Ports
from app.domain.kernel.clock import Clock
from app.domain.kernel.errors import DomainError
from app.domain.kernel.sql import find_values
from app.domain.kernel.time_shares import TimeShares
from app.domain.kernel.unit_of_work import Actor, Notify, UnitOfWork, open_unit

WAITS = (timedelta(seconds=10), timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1), timedelta(hours=6))
"""The waits after an event could not be applied for a reason of the service's own; after the last it has failed."""

MAX_RESULT = 1000

HOLDS = 7_236_460
"""Seed of the keys of this area's advisory locks, one for each integration."""

# One step for each integration, however many events wait for it, such as for a paused one.
_DUE = f"""
WITH RECURSIVE {find_values("integration_events", "integration_id", "status = 'waiting'")}, due AS (
  SELECT first.* FROM waiting w JOIN integrations i ON i.id = w.integration_id AND i.status = 'active'
  CROSS JOIN LATERAL (
    SELECT e.id, e.account_id, e.integration_id, e.due_at FROM integration_events e
    WHERE e.integration_id = w.integration_id AND e.status = 'waiting' AND e.due_at <= $1
    ORDER BY e.due_at, e.id LIMIT 1
  ) first
)
"""
FIND_DUE = f"""
{_DUE}, turns AS (
  SELECT DISTINCT ON (account_id) * FROM due
  ORDER BY account_id, coalesce(array_position($3::bigint[], integration_id), 0), due_at, id
)
SELECT id, account_id, integration_id FROM turns ORDER BY due_at, id LIMIT $2
"""
"""The next event of each account: of its integrations in turn, where `$3` are those that had one, the latest last."""

IS_DUE = f"{_DUE} SELECT EXISTS (SELECT FROM due)"
HOLD = text(f"SELECT pg_try_advisory_xact_lock(hashint8extended(:id, {HOLDS}))")

COUNT_ATTEMPTS = "SELECT attempts FROM integration_events WHERE id = $1"

PUT_OFF = """
UPDATE integration_events SET attempts = attempts + 1, due_at = $2, status = $3, result = $4, applied_at = $5
WHERE id = $1 AND status = 'waiting'
"""
NOTE_FAILURE = "UPDATE integrations SET failed = failed + 1, last_error = $2, last_error_at = $3 WHERE id = $1"


class _NotWaiting(Exception):
    """An erasure has ended the event meanwhile: nothing of it may be applied."""


class DueEvent(NamedTuple):
    """A due event."""

    id: int
    account_id: int
    integration_id: int


@dataclass(frozen=True, slots=True)
class Applier:
    """Applies due events, those of an integration one after another; safe to run concurrently and to die anywhere.

    Accounts share the time of a process: one whose events take seconds does not slow the events of others.
    """

    database: Database
    clock: Clock
    notify: Notify
    ports: Ports
    batch: int = 64
    shares: TimeShares = field(default_factory=TimeShares)

    async def run(self) -> bool:
        """Apply a batch of events, one of each account in turn; return True when more may be due."""
        left = self.batch
        had: list[int] = []
        held: list[int] = []
        while left > 0:
            due = self._choose(await self._find_due(self.batch, [*had, *held]), held)[:left]
            done = {each.integration_id: await self._attempt(each) for each in due}
            if not any(done.values()) and done.keys() <= {*had, *held}:
                return False
            left -= len(due)
            had = [*(id for id in had if id not in done), *(id for id, is_done in done.items() if is_done)]
            held = [*(id for id in held if id not in done), *(id for id, is_done in done.items() if not is_done)]
        return True

    async def due(self) -> bool:
        """Return whether an event is due."""
        return await self.database.pool.ask(IS_DUE, self.clock.now())

    async def _find_due(self, limit: int, had: Sequence[int]) -> Sequence[DueEvent]:
        """Return the next events, once the integrations whose creator has ended are paused."""
        now = self.clock.now()
        due = await fetch(self.database.pool, DueEvent, FIND_DUE, now, limit, had)
        if await endings.pause_ended(self.database.pool, [each.integration_id for each in due], now):
            return await self._find_due(limit, had)
        return due

    def _choose(self, due: Sequence[DueEvent], held: Sequence[int]) -> Sequence[DueEvent]:
        """Return the events of the accounts whose turn it is; integrations that were held are tried after all others.

        An account that is ahead of the others misses its turns until they have used as much time.
        """
        free = [each for each in due if each.integration_id not in held] or due
        chosen = self.shares.choose({each.account_id for each in free})
        return [each for each in free if each.account_id in chosen]

    async def _attempt(self, due: DueEvent) -> bool:
        """Apply an event; return False where another worker has its integration.

        A fault of the service puts off this event alone: those of other integrations follow in the same batch.
        """
        actor = Actor(due.account_id, frozenset(), f"integration:{due.integration_id}")
        try:
            with self.shares.counted(due.account_id):
                async with open_unit(self.database.sessions, actor, self.clock, self.notify) as unit:
                    return await self._apply(unit, due)
        except _NotWaiting:
            return True
        except (DomainError, Unreadable) as refusal:
            await self._fail(due, str(refusal))
            return True
        except Exception as fault:
            context = {"message": f"event {due.id} of an integration could not be applied", "exception": fault}
            asyncio.get_running_loop().call_exception_handler(context)
            await self._put_off(due, fault)
            return True

    async def _apply(self, unit: UnitOfWork, due: DueEvent) -> bool:
        """Apply an event under the lock of its integration, so that related events are applied one after the other.

        The lock of the row only keeps it from being deleted: further events are received meanwhile. The bodies of a CRM
        are not kept: they name people who may not be contacts here.
        """
        if not (await unit.execute(HOLD, {"id": due.integration_id})).scalar_one():
            return False
        kept = select(Integration).where(Integration.id == due.integration_id)
        integration = await unit.one(kept.with_for_update(read=True, key_share=True, skip_locked=True))
        if integration is None:
            return False
        event = await unit.one(select(Event).where(Event.id == due.id, Event.status == EventStatus.waiting))
        if event is None or integration.status != IntegrationStatus.active:
            return True
        done = await self._perform(unit, integration, event)
        values = {
            "body": event.body if done and done.keeps_body else "",
            "status": EventStatus.ignored if done is None else EventStatus.applied,
            "result": "This event changes nothing." if done is None else done.result[:MAX_RESULT],
            "booking_id": done and done.booking_id,
            "contact_id": done and done.contact_id,
            "applied_at": unit.clock.now(),
        }
        waiting = update(Event).where(Event.id == event.id, Event.status == EventStatus.waiting)
        if (await unit.execute(waiting.values(values).returning(Event.id))).scalar_one_or_none() is None:
            raise _NotWaiting
        return True

    async def _perform(self, unit: UnitOfWork, integration: Integration, event: Event) -> Applied | None:
        if integration.kind == WEBHOOK:
            return await hook_actions.perform(unit, integration, event.body, f"webhook/{event.id}")
        if receiver := self.ports.receivers.get(integration.kind):
            applied = await receiver.apply(unit, integration, event.body)
            return applied and replace(applied, keeps_body=False)
        notice = self.ports.tools[integration.kind].read(event.body.encode(), integration.consent_question)
        if not notice.changes:
            return None
        applied = await bookings.apply(unit, integration, notice.changes)
        return replace(applied, keeps_body=applied.contact_id is not None and not notice.is_shared)

    async def _fail(self, due: DueEvent, reason: str) -> None:
        """Record why an event cannot be applied, for the log and the health of its integration.

        Another worker may have tried it meanwhile: the first one to record its end counts it.
        """
        now, reason = self.clock.now(), reason[:MAX_RESULT]
        async with self.database.pool.acquire() as connection, connection.transaction():
            ended = await connection.execute(PUT_OFF, due.id, now, EventStatus.failed, reason, now)
            if ended.endswith(" 1"):
                await connection.execute(NOTE_FAILURE, due.integration_id, reason, now)

    async def _put_off(self, due: DueEvent, fault: Exception) -> None:
        attempts: int = await self.database.pool.fetchval(COUNT_ATTEMPTS, due.id) or 0
        if attempts >= len(WAITS):
            await self._fail(due, f"It could not be applied: {type(fault).__name__}.")
        else:
            await self._wait(due, self.clock.now() + WAITS[attempts])

    async def _wait(self, due: DueEvent, until: datetime) -> None:
        waiting = EventStatus.waiting
        await self.database.pool.execute(PUT_OFF, due.id, until, waiting, "It is tried again.", None)

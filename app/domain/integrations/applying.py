"""Applies stored events: each in one transaction with everything that follows from it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import select, update

from app.db.engine import Database
from app.db.rows import find
from app.domain.integrations import bookings, hook_actions
from app.domain.integrations.bookings import Applied
from app.domain.integrations.models import WEBHOOK, EventStatus, Integration, IntegrationStatus
from app.domain.integrations.models import IntegrationEvent as Event
from app.domain.integrations.scheduling import Unreadable
from app.domain.integrations.service import Ports
from app.domain.kernel.clock import Clock
from app.domain.kernel.errors import DomainError
from app.domain.kernel.unit_of_work import Actor, Notify, UnitOfWork, open_unit

WAITS = (timedelta(seconds=10), timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1), timedelta(hours=6))
"""The waits after an event could not be applied for a reason of the service's own; after the last it has failed."""

MAX_RESULT = 1000

_DUE = """
FROM integration_events e JOIN integrations i ON i.id = e.integration_id
WHERE e.status = 'waiting' AND e.due_at <= $1 AND i.status = 'active'
"""
FIND_DUE = f"SELECT e.id, e.account_id, e.integration_id {_DUE} ORDER BY e.due_at, e.id LIMIT 1 OFFSET $2"
IS_DUE = f"SELECT EXISTS (SELECT {_DUE})"

COUNT_ATTEMPTS = "SELECT attempts FROM integration_events WHERE id = $1"

PUT_OFF = """
UPDATE integration_events SET attempts = attempts + 1, due_at = $2, status = $3, result = $4, applied_at = $5
WHERE id = $1 AND status = 'waiting'
"""
NOTE_FAILURE = "UPDATE integrations SET failed = failed + 1, last_error = $2, last_error_at = $3 WHERE id = $1"


class DueEvent(NamedTuple):
    """A due event."""

    id: int
    account_id: int
    integration_id: int


@dataclass(frozen=True, slots=True)
class Applier:
    """Applies due events, those of an integration one after another; safe to run concurrently and to die anywhere."""

    database: Database
    clock: Clock
    notify: Notify
    ports: Ports
    batch: int = 64

    async def run(self) -> bool:
        """Apply up to a batch of events; return True when more may be due."""
        skipped = 0
        for _ in range(self.batch):
            due = await find(self.database.pool, DueEvent, FIND_DUE, self.clock.now(), skipped)
            if due is None:
                return False
            skipped += not await self._attempt(due)
        return True

    async def due(self) -> bool:
        """Return whether an event is due."""
        return await self.database.pool.ask(IS_DUE, self.clock.now())

    async def _attempt(self, due: DueEvent) -> bool:
        """Apply an event; return False where another worker has its integration."""
        actor = Actor(due.account_id, frozenset(), f"integration:{due.integration_id}")
        try:
            async with open_unit(self.database.sessions, actor, self.clock, self.notify) as unit:
                return await self._apply(unit, due)
        except (DomainError, Unreadable) as refusal:
            await self._fail(due, str(refusal))
            return True
        except Exception as fault:
            await self._put_off(due, fault)
            raise

    async def _apply(self, unit: UnitOfWork, due: DueEvent) -> bool:
        """Apply an event under the lock of its integration, so that related events are applied one after the other."""
        locked = select(Integration).where(Integration.id == due.integration_id).with_for_update(skip_locked=True)
        integration = await unit.one(locked)
        if integration is None:
            return False
        event = await unit.one(select(Event).where(Event.id == due.id, Event.status == EventStatus.waiting))
        if event is None or integration.status != IntegrationStatus.active:
            return True
        done = await self._perform(unit, integration, event)
        values = {
            "status": EventStatus.ignored if done is None else EventStatus.applied,
            "result": "This event changes nothing." if done is None else done.result[:MAX_RESULT],
            "booking_id": done and done.booking_id,
            "contact_id": done and done.contact_id,
            "applied_at": unit.clock.now(),
        }
        await unit.execute(update(Event).where(Event.id == event.id).values(values))
        return True

    async def _perform(self, unit: UnitOfWork, integration: Integration, event: Event) -> Applied | None:
        if integration.kind == WEBHOOK:
            return await hook_actions.perform(unit, integration, event.body, f"webhook/{event.id}")
        if receiver := self.ports.receivers.get(integration.kind):
            return await receiver.apply(unit, integration, event.body)
        notice = self.ports.tools[integration.kind].read(event.body.encode(), integration.consent_question)
        return await bookings.apply(unit, integration, notice.changes) if notice.changes else None

    async def _fail(self, due: DueEvent, reason: str) -> None:
        """Record why an event cannot be applied, for the log and the health of its integration."""
        now, reason = self.clock.now(), reason[:MAX_RESULT]
        async with self.database.pool.acquire() as connection, connection.transaction():
            await connection.execute(PUT_OFF, due.id, now, EventStatus.failed, reason, now)
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

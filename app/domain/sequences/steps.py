"""Sends due steps: claim, send through the acceptor, advance to the next step.

The claim is committed before the send, and the advance after it. If a worker crashes in between, the claim expires, and
the repeated send gets the stored answer of its idempotency key. An enrollment advances from a step once, because the
update is conditional on its position.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from app.db import claims
from app.db.engine import Connection, Database
from app.domain.accounts import sql as accounts
from app.domain.consent import quoted_replies
from app.domain.consent import sql as consent
from app.domain.contacts import placeholders
from app.domain.contacts import sql as contacts
from app.domain.events import sql as events
from app.domain.kernel.clock import Clock
from app.domain.kernel.errors import Conflict, DomainError, Unavailable
from app.domain.kernel.events import timestamp
from app.domain.kernel.unit_of_work import Actor, Notify
from app.domain.messages import sql as messages
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.eligibility import gates
from app.domain.messages.eligibility.limited import limits_of
from app.domain.messages.models import Attestation, Purpose
from app.domain.messages.requests import Check, Condition, Send
from app.domain.quiet_hours.errors import FrequencyCap, QuietHours
from app.domain.sequences.events import DripCompleted
from app.domain.sequences.exits import OPTED_OUT, REPLIED, WAS_SENT, step_key
from app.domain.sequences.rows import DueStep
from app.domain.sequences.schedule import NEVER_OPEN, Delay, due_at
from app.domain.templates import sql as templates
from app.domain.templates.rendering import compiled

LEASE = timedelta(minutes=1)
LATE = timedelta(minutes=5)
APART = timedelta(hours=1)
"""The minimum time between two steps after a late one, so that an outage does not cause a burst of messages."""

RETRIES = (timedelta(hours=1), timedelta(hours=6), timedelta(hours=17))
"""The waits after the first, second and third refusal of a step; a day in total."""

OF_ACCOUNT = (*gates.ACCOUNT.errors, *gates.ACCOUNT_DELETION.errors)
"""Refusals of all sends of an account: its steps are retried each hour without limit."""

PASSING = (*OF_ACCOUNT, *gates.CONTACT.errors, *gates.HOLD.errors, *gates.SENDER.errors, *gates.CREDITS.errors)
"""Temporary refusals, after which the step is retried; any other ends the enrollment."""

CLAIM = f"""
WITH due AS (
  SELECT id FROM sequence_enrollments WHERE status = 'active' AND NOT is_paused AND next_send_at <= $1
    AND (claimed_until IS NULL OR claimed_until <= $1)
  ORDER BY next_send_at, id LIMIT $3 FOR UPDATE SKIP LOCKED
), claimed AS (
  UPDATE sequence_enrollments e SET claimed_until = $2 FROM due WHERE e.id = due.id RETURNING e.*
)
SELECT e.id, e.account_id, e.contact_id, e.sequence_id, s.name AS sequence_name, e.position, e.attempts, e.next_send_at,
  e.claimed_until, {contacts.PLACEHOLDERS}, a.company_name, step.body,
  {templates.fallbacks_of("e.account_id")} AS fallbacks,
  next.delay_days AS next_days, next.delay_minutes AS next_delay, next.at_minute AS next_at,
  {WAS_SENT} AS was_sent,
  {messages.newest_inbound_id("e.contact_id")} AS newest_inbound_id,
  {consent.has_opted_out_since("e.account_id", "c.phone", "e.created_at")} AS has_opted_out,
  {messages.inbound_bodies_since("e.contact_id", "e.created_at", 20)} AS replies,
  {limits_of("e.account_id", "c.phone", "0")} AS limits
FROM claimed e
JOIN sequences s ON s.id = e.sequence_id
{contacts.join("e.contact_id")}
{accounts.join("e.account_id")}
JOIN sequence_steps step ON step.sequence_id = e.sequence_id AND step.position = e.position
LEFT JOIN sequence_steps next ON next.sequence_id = e.sequence_id AND next.position = e.position + 1
ORDER BY e.next_send_at, e.id
"""

# After a newer inbound message the step is not sent; the next claim decides.
FIND_UNCHANGED = f"""
SELECT e.id FROM sequence_enrollments e
JOIN unnest($1::bigint[], $2::bigint[]) AS claimed(id, newest_inbound_id) ON claimed.id = e.id
WHERE e.status = 'active' AND NOT e.is_paused
  AND NOT {messages.has_inbound_after("e.contact_id", "claimed.newest_inbound_id")}
ORDER BY e.id FOR SHARE OF e
"""

IS_DUE = """
SELECT EXISTS (SELECT FROM sequence_enrollments WHERE status = 'active' AND NOT is_paused AND next_send_at <= $1
  AND (claimed_until IS NULL OR claimed_until <= $1))
"""

ADVANCE = """
WITH sent AS (
  SELECT e.id, s.next_send_at FROM sequence_enrollments e
  JOIN unnest($1::bigint[], $2::bigint[], $3::timestamptz[]) AS s(id, position, next_send_at)
    ON s.id = e.id AND s.position = e.position
  WHERE e.status = 'active' ORDER BY e.id FOR UPDATE OF e
)
UPDATE sequence_enrollments e SET position = e.position + 1, next_send_at = sent.next_send_at, claimed_until = NULL,
  attempts = 0, status = CASE WHEN sent.next_send_at IS NULL THEN 'completed' ELSE e.status END,
  ended_at = CASE WHEN sent.next_send_at IS NULL THEN $4::timestamptz END
FROM sent WHERE e.id = sent.id RETURNING e.id
"""

TRY_LATER = """
UPDATE sequence_enrollments SET next_send_at = $3, attempts = attempts + 1, claimed_until = NULL
WHERE id = $1 AND status = 'active' AND claimed_until = $2
"""

PUT_OFF = """
UPDATE sequence_enrollments SET next_send_at = $3, claimed_until = NULL
WHERE id = $1 AND status = 'active' AND claimed_until = $2
"""

RELEASE = "UPDATE sequence_enrollments SET claimed_until = NULL WHERE id = $1 AND claimed_until = $2"

EXIT = """
UPDATE sequence_enrollments SET status = 'exited', exit_reason = $3, ended_at = $4, next_send_at = NULL,
  claimed_until = NULL
WHERE id = $1 AND status = 'active' AND claimed_until = $2
"""


@dataclass(frozen=True, slots=True)
class Drip:
    """Sends due steps; safe to run concurrently."""

    database: Database
    acceptor: SendAcceptor
    clock: Clock
    notify: Notify
    batch: int = 64

    async def run(self) -> bool:
        """Send one batch of steps; return True when more may be due."""
        now = self.clock.now()
        rows = await claims.claim(
            self.database.pool,
            DueStep,
            CLAIM,
            now,
            now + LEASE,
            self.batch,
            give_back=self._release,
            seconds=LEASE.seconds,
        )
        for row in rows:
            if reason := _exit_reason(row):
                await self._exit(row, reason)
        open = [row for row in rows if not _exit_reason(row)]
        check = _unchanged(open)
        refusals = await asyncio.gather(*(self._send(row, check) for row in open))
        if sent := [row for row, refusal in zip(open, refusals, strict=True) if refusal is None]:
            await claims.persist(lambda: self._advance(sent), LEASE.seconds)
        for row, refusal in zip(open, refusals, strict=True):
            if refusal is not None:
                await claims.persist(partial(self._handle_refusal, row, refusal), LEASE.seconds)
        return len(rows) == self.batch

    async def due(self) -> bool:
        """Return whether a step is due."""
        return await self.database.pool.ask(IS_DUE, self.clock.now())

    async def _send(self, row: DueStep, check: Check) -> DomainError | None:
        """Send a step, unless it was sent before; return the error that refuses it."""
        if row.was_sent:
            return None
        send = Send(
            to=row.phone,
            body=_render(row),
            consent_attested=True,
            idempotency_key=step_key(row.id, row.position),
            purpose=Purpose.promotional,
            attestation=Attestation.enrollment,
            contact_id=row.contact_id,
            condition=Condition(check, row.id),
            can_wait=False,
        )
        actor = Actor(row.account_id, frozenset(), f"sequence:{row.sequence_id}")
        try:
            await self.acceptor.accept(actor, send)
        except DomainError as refusal:
            return refusal
        return None

    async def _advance(self, rows: Sequence[DueStep]) -> None:
        """Advance enrollments to their next step, or complete them and record `drip_completed`."""
        now = self.clock.now()
        async with self.database.pool.acquire() as connection, connection.transaction():
            moved = await connection.fetch(
                ADVANCE,
                [row.id for row in rows],
                [row.position for row in rows],
                [_next_send_at(row, now) for row in rows],
                now,
            )
            ids = {row["id"] for row in moved}
            completed = [row for row in rows if row.id in ids and row.next_delay is None]
            await _record_completed(connection, completed, now)
        if completed:
            self.notify("events")

    async def _handle_refusal(self, row: DueStep, refusal: DomainError) -> None:
        """Retry a refused step later, or end its enrollment. Quiet hours and caps put it off until their time.

        After a change since the claim, or when the database was unreachable, the claim is released and the step is due
        at once; its idempotency key prevents a second send.
        """
        if isinstance(refusal, Unavailable | Conflict):
            await self._release([row])
            return
        if isinstance(refusal, QuietHours | FrequencyCap):
            at = refusal.not_before or self.clock.now() + NEVER_OPEN
            await self.database.pool.execute(PUT_OFF, row.id, row.claimed_until, at)
            return
        attempts = row.attempts
        if isinstance(refusal, OF_ACCOUNT):
            attempts = 0
        if isinstance(refusal, PASSING) and attempts < len(RETRIES):
            at = self.clock.now() + RETRIES[attempts]
            await self.database.pool.execute(TRY_LATER, row.id, row.claimed_until, at)
        else:
            await self._exit(row, refusal.code)

    async def _release(self, rows: Sequence[DueStep]) -> None:
        for row in rows:
            await self.database.pool.execute(RELEASE, row.id, row.claimed_until)

    async def _exit(self, row: DueStep, reason: str) -> None:
        await self.database.pool.execute(EXIT, row.id, row.claimed_until, reason, self.clock.now())


def _render(row: DueStep) -> str:
    template = compiled(row.body, tuple(row.fallbacks.items()))
    return template.render(placeholders.values(row._asdict(), row.custom_fields)).text


def _exit_reason(row: DueStep) -> str | None:
    """Return the reason that ends an enrollment before its next step, whether or not its event was dispatched."""
    if row.was_sent:
        return None
    if row.has_opted_out:
        return OPTED_OUT
    return REPLIED if any(quoted_replies.is_reply(body) for body in row.replies) else None


def _unchanged(rows: Sequence[DueStep]) -> Check:
    """Return the check of which enrollments have not changed since their claim."""
    newest_inbound_id = {row.id: row.newest_inbound_id for row in rows}

    async def check(connection: Connection, ids: Sequence[int]) -> Sequence[int]:
        rows = await connection.fetch(FIND_UNCHANGED, ids, [newest_inbound_id[id] for id in ids])
        return [row["id"] for row in rows]

    return check


def _next_send_at(row: DueStep, now: datetime) -> datetime | None:
    """Return the time of the next step; None after the last one."""
    if row.next_delay is None:
        return None
    is_late = row.attempts > 0 or now - row.next_send_at > LATE
    delay = Delay(row.next_days or 0, row.next_delay, row.next_at)
    return due_at(row.recipient_at(now), now, delay, row.id, APART if is_late else timedelta())


async def _record_completed(connection: Connection, completed: Sequence[DueStep], now: datetime) -> None:
    await connection.execute(
        events.INSERT,
        [row.account_id for row in completed],
        [DripCompleted.name] * len(completed),
        [row.contact_id for row in completed],
        [_completed(row, now).payload() for row in completed],
        [None] * len(completed),
    )


def _completed(row: DueStep, now: datetime) -> DripCompleted:
    return DripCompleted(
        contact_id=row.contact_id,
        first_name=row.first_name,
        last_name=row.last_name,
        phone=row.phone,
        email=row.email,
        sequence_id=row.sequence_id,
        sequence_name=row.sequence_name,
        completed_at=timestamp(now),
    )

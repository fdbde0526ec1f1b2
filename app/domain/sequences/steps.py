"""Sending the steps that are due: claim, send through the desk, go on to the next step.

A claim is committed before the send and what follows from it after, so a worker may die between any two of them: the
claim lapses, and the send is asked for again under the same key, which answers without sending. Each enrollment goes on
from a step once, since the step it stands at is part of the condition.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from app.db import claims
from app.db.engine import Connection, Database
from app.domain.accounts import sql as accounts
from app.domain.accounts.errors import AccountDeleted, AccountDeletionPending, AccountSuspended
from app.domain.billing.service import InsufficientCredits
from app.domain.consent import quoted_replies
from app.domain.consent import sql as consent
from app.domain.consent.errors import ContactHeld
from app.domain.contacts import sql as contacts
from app.domain.events import sql as events
from app.domain.kernel.clock import Clock
from app.domain.kernel.errors import Conflict, DomainError, NotFound, Unavailable
from app.domain.kernel.events import timestamp
from app.domain.kernel.unit_of_work import Actor, Notify
from app.domain.messages import sql as messages
from app.domain.messages.acceptor import Send, SendAcceptor
from app.domain.messages.errors import NoSender
from app.domain.messages.models import Attestation, Purpose
from app.domain.messages.requests import Check, Condition
from app.domain.sequences.events import DripCompleted
from app.domain.sequences.exits import OPTED_OUT, REPLIED, WAS_SENT, step_key
from app.domain.sequences.rows import DueStep
from app.domain.templates import placeholders

LEASE = timedelta(minutes=1)
LATE = timedelta(minutes=5)
APART = timedelta(hours=1)
"""How far apart two steps are at least, once one was late: what an outage held up does not come all at once."""

RETRIES = (timedelta(hours=1), timedelta(hours=6), timedelta(hours=17))
"""How long a step waits that could not be sent, the first time, the second and the third; together a day."""

OF_ACCOUNT = (AccountSuspended, AccountDeletionPending, AccountDeleted)
"""Refusals of all that an account sends: its steps are tried each hour, however long that takes."""

PASSING = (*OF_ACCOUNT, ContactHeld, InsufficientCredits, NoSender, NotFound)
"""Refusals that may be over when the step is tried again; any other ends the enrollment."""

CLAIM = f"""
WITH due AS (
  SELECT id FROM sequence_enrollments WHERE status = 'active' AND NOT is_paused AND next_send_at <= $1
    AND (claimed_until IS NULL OR claimed_until <= $1)
  ORDER BY next_send_at, id LIMIT $3 FOR UPDATE SKIP LOCKED
), claimed AS (
  UPDATE sequence_enrollments e SET claimed_until = $2 FROM due WHERE e.id = due.id RETURNING e.*
)
SELECT e.id, e.account_id, e.contact_id, e.sequence_id, s.name AS sequence_name, e.position, e.attempts, e.next_send_at,
  e.claimed_until, c.phone, {contacts.PERSON}, a.company_name, step.body,
  next.delay_minutes AS next_delay, {WAS_SENT} AS was_sent,
  {messages.newest_inbound_id("e.contact_id")} AS heard_to,
  {consent.has_opted_out_since("e.account_id", "c.phone", "e.created_at")} AS has_opted_out,
  {messages.inbound_bodies_since("e.contact_id", "e.created_at", 20)} AS heard
FROM claimed e
JOIN sequences s ON s.id = e.sequence_id
{contacts.join("e.contact_id")}
{accounts.join("e.account_id")}
JOIN sequence_steps step ON step.sequence_id = e.sequence_id AND step.position = e.position
LEFT JOIN sequence_steps next ON next.sequence_id = e.sequence_id AND next.position = e.position + 1
ORDER BY e.next_send_at, e.id
"""

# What else the contact has said since the claim decides the next one.
STANDS = f"""
SELECT e.id FROM sequence_enrollments e
JOIN unnest($1::bigint[], $2::bigint[]) AS claimed(id, heard_to) ON claimed.id = e.id
WHERE e.status = 'active' AND NOT e.is_paused
  AND NOT {messages.has_inbound_after("e.contact_id", "claimed.heard_to")}
ORDER BY e.id FOR SHARE OF e
"""

IS_DUE = """
SELECT EXISTS (SELECT FROM sequence_enrollments WHERE status = 'active' AND NOT is_paused AND next_send_at <= $1
  AND (claimed_until IS NULL OR claimed_until <= $1))
"""

GO_ON = """
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

LET_GO = "UPDATE sequence_enrollments SET claimed_until = NULL WHERE id = $1 AND claimed_until = $2"

EXIT = """
UPDATE sequence_enrollments SET status = 'exited', exit_reason = $3, ended_at = $4, next_send_at = NULL,
  claimed_until = NULL
WHERE id = $1 AND status = 'active' AND claimed_until = $2
"""


@dataclass(frozen=True, slots=True)
class Drip:
    """Sends what enrollments are due, any number of these at the same time."""

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
            give_back=self._let_go,
            seconds=LEASE.seconds,
        )
        for row in rows:
            if reason := _ended_by(row):
                await self._exit(row, reason)
        open = [row for row in rows if not _ended_by(row)]
        stands = _standing(open)
        refusals = await asyncio.gather(*(self._send(row, stands) for row in open))
        if sent := [row for row, refusal in zip(open, refusals, strict=True) if refusal is None]:
            await claims.persist(lambda: self._go_on(sent), LEASE.seconds)
        for row, refusal in zip(open, refusals, strict=True):
            if refusal is not None:
                await claims.persist(partial(self._heed, row, refusal), LEASE.seconds)
        return len(rows) == self.batch

    async def due(self) -> bool:
        """Tell whether a step waits to be sent."""
        return await self.database.pool.fetchval(IS_DUE, self.clock.now())

    async def _send(self, row: DueStep, stands: Check) -> DomainError | None:
        """Send a step, unless it was sent before; return what stands against it."""
        if row.was_sent:
            return None
        send = Send(
            to=row.phone,
            body=placeholders.fill(row.body, row._asdict()),
            consent_attested=True,
            idempotency_key=step_key(row.id, row.position),
            purpose=Purpose.promotional,
            attestation=Attestation.enrollment,
            contact_id=row.contact_id,
            condition=Condition(stands, row.id),
        )
        actor = Actor(row.account_id, frozenset(), f"sequence:{row.sequence_id}")
        try:
            await self.acceptor.accept(actor, send)
        except DomainError as refusal:
            return refusal
        return None

    async def _go_on(self, rows: Sequence[DueStep]) -> None:
        """Let enrollments go on to their next step, or complete them and tell it, whichever worker sent the step."""
        now = self.clock.now()
        async with self.database.pool.acquire() as connection, connection.transaction():
            moved = await connection.fetch(
                GO_ON,
                [row.id for row in rows],
                [row.position for row in rows],
                [_next_send_at(row, now) for row in rows],
                now,
            )
            ids = {row["id"] for row in moved}
            completed = [row for row in rows if row.id in ids and row.next_delay is None]
            await _tell(connection, completed, now)
        if completed:
            self.notify("events")

    async def _heed(self, row: DueStep, refusal: DomainError) -> None:
        """Try a step later, or end its enrollment.

        What has changed since the claim is looked at again at once, and so is what could not be sent while the database
        was away: under the same key it is not sent twice.
        """
        if isinstance(refusal, Unavailable | Conflict):
            await self._let_go([row])
            return
        attempts = row.attempts
        if isinstance(refusal, OF_ACCOUNT):
            attempts = 0
        if isinstance(refusal, PASSING) and attempts < len(RETRIES):
            at = self.clock.now() + RETRIES[attempts]
            await self.database.pool.execute(TRY_LATER, row.id, row.claimed_until, at)
        else:
            await self._exit(row, refusal.code)

    async def _let_go(self, rows: Sequence[DueStep]) -> None:
        for row in rows:
            await self.database.pool.execute(LET_GO, row.id, row.claimed_until)

    async def _exit(self, row: DueStep, reason: str) -> None:
        await self.database.pool.execute(EXIT, row.id, row.claimed_until, reason, self.clock.now())


def _ended_by(row: DueStep) -> str | None:
    """Return what ends an enrollment before its next step, whether or not its event was heard."""
    if row.was_sent:
        return None
    if row.has_opted_out:
        return OPTED_OUT
    return REPLIED if any(quoted_replies.is_reply(body) for body in row.heard) else None


def _standing(rows: Sequence[DueStep]) -> Check:
    """Return what tells which enrollments still stand as they did when they were claimed."""
    heard_to = {row.id: row.heard_to for row in rows}

    async def check(connection: Connection, ids: Sequence[int]) -> Sequence[int]:
        rows = await connection.fetch(STANDS, ids, [heard_to[id] for id in ids])
        return [row["id"] for row in rows]

    return check


def _next_send_at(row: DueStep, now: datetime) -> datetime | None:
    """Return when the step after this one is due; None when there is none."""
    if row.next_delay is None:
        return None
    wait = timedelta(minutes=row.next_delay)
    is_late = row.attempts > 0 or now - row.next_send_at > LATE
    return now + (max(wait, APART) if is_late else wait)


async def _tell(connection: Connection, completed: Sequence[DueStep], now: datetime) -> None:
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

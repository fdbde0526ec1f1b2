"""Sends due steps: claim, send through the acceptor, advance to the next step.

The claim is committed before the send, and the advance after it. If a worker crashes in between, the claim expires, and
the next one finds the stored answer of the send's idempotency key. An enrollment advances from a step once, because the
update is conditional on its version, position and time.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from app.db import claims
from app.db.engine import Connection, Database
from app.domain.accounts import sql as accounts
from app.domain.consent import quoted_replies
from app.domain.consent import sql as consent
from app.domain.contacts import placeholders
from app.domain.contacts import sql as contacts
from app.domain.kernel import sql as kernel
from app.domain.kernel.clock import Clock
from app.domain.kernel.errors import Conflict, DomainError, Unavailable
from app.domain.kernel.turn_cursor import TurnCursor
from app.domain.kernel.unit_of_work import Actor, Notify
from app.domain.messages import sql as messages
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.eligibility import gates
from app.domain.messages.eligibility.limited import limits_of
from app.domain.messages.models import Attestation, Purpose
from app.domain.messages.requests import Check, Condition, Send
from app.domain.quiet_hours.errors import FrequencyCap, QuietHours
from app.domain.sequences import following
from app.domain.sequences.exits import NEW_PHONE, OPTED_OUT, REPLIED, STAGE, STEP_KEY, TAG, step_key
from app.domain.sequences.models import SequenceStatus
from app.domain.sequences.results import settle
from app.domain.sequences.rows import DueStep
from app.domain.sequences.schedule import NEVER_OPEN, RETRIES, Delay, due_at, open_at, shift
from app.domain.sequences.setting_aside import HAS_RETURNING, bring_back, set_aside
from app.domain.templates import sql as templates
from app.domain.templates.rendering import compiled

LEASE = timedelta(seconds=10)
"""The time after which the step of a worker that died is due again: many times as long as a batch takes.

A batch that takes longer is safe: the keys of its sends are stored.
"""

LATE = timedelta(minutes=5)
MISSED = timedelta(hours=24)
"""The lateness from which a step is not sent at once, but at the time of the day at which it was due."""

APART = timedelta(hours=1)
"""The minimum time between two steps after a late one, so that an outage does not cause a burst of messages."""

OF_ACCOUNT = (*gates.ACCOUNT.errors, *gates.ACCOUNT_DELETION.errors)
"""Refusals of all sends of an account: its steps are retried each hour without limit; all count as one attempt."""

PASSING = (*OF_ACCOUNT, *gates.CONTACT.errors, *gates.HOLD.errors, *gates.SENDER.errors, *gates.CREDITS.errors)
"""Temporary refusals, after which the step is retried; any other ends the enrollment."""

_OPEN = """
FROM sequence_enrollments t WHERE t.status = 'active' AND NOT t.is_set_aside
  AND (t.claimed_until IS NULL OR t.claimed_until <= $1)
"""
_DUE = f"{_OPEN} AND t.next_send_at <= $1"
_FREE = f"{_DUE} AND t.sequence_id <> ALL(ARRAY(SELECT id FROM sequences WHERE follows_below IS NOT NULL))"
FIND_TURNS = kernel.find_turns("sequence_enrollments", "account_id", "status = 'active' AND NOT is_set_aside")
CLAIM = f"""
WITH {kernel.take_turns("account_id", _FREE, "next_send_at")}, claimed AS (
  UPDATE sequence_enrollments e SET claimed_until = $2 FROM locked WHERE e.id = locked.id RETURNING e.*
)
SELECT e.id, e.account_id, e.contact_id, e.sequence_id, s.status AS sequence_status, s.exits_on_reply, s.skips_refused,
  s.window_start, s.window_end, s.window_days, e.steps_version, e.position, step.key, e.attempts, e.next_send_at,
  e.claimed_until, e.request_id, {contacts.placeholders(contacts.PLACEHOLDERS)}, a.company_name, step.body,
  {templates.fallbacks_of("e.account_id")} AS fallbacks,
  next.delay_days AS next_days, next.delay_minutes AS next_delay, next.at_minute AS next_at,
  {kernel.answered(*STEP_KEY, "message_id")}::bigint AS sent_as,
  {consent.has_opted_out_since("e.account_id", "c.phone", "e.created_at")} AS has_opted_out,
  {contacts.STAGE} = ANY(s.exit_stages) AS has_exit_stage, {contacts.TAGS} && s.exit_tags AS has_exit_tag,
  {contacts.has_new_phone("e.created_at")} AS has_new_phone,
  {messages.inbound_bodies_since("e.contact_id", "e.created_at", 20)} AS replies,
  {messages.newest_inbound_id("e.contact_id")} AS newest_inbound_id,
  {limits_of("e.account_id", "c.phone", "0")} AS limits
FROM claimed e
JOIN sequences s ON s.id = e.sequence_id
{contacts.join("e.contact_id")}
{accounts.join("e.account_id")}
JOIN sequence_steps step ON step.sequence_id = e.sequence_id AND step.version = e.steps_version
  AND step.position = e.position
LEFT JOIN sequence_steps next ON next.sequence_id = e.sequence_id AND next.version = e.steps_version
  AND next.position = e.position + 1
ORDER BY e.next_send_at, e.id
"""

LOCK_ACTIVE = """
SELECT id FROM sequences WHERE id = ANY($1::bigint[]) AND status = 'active' AND follows_below IS NULL
ORDER BY id FOR SHARE
"""

# After a newer inbound message, another phone, a pause or another version the step is not sent; the next claim decides.
FIND_UNCHANGED = f"""
SELECT e.id FROM sequence_enrollments e {contacts.join("e.contact_id")}
JOIN unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::bigint[])
  AS claimed(id, version, due_at, newest_inbound_id) ON claimed.id = e.id
WHERE e.status = 'active' AND e.steps_version = claimed.version AND e.next_send_at = claimed.due_at
  AND e.sequence_id = ANY($5::bigint[])
  AND NOT {messages.has_inbound_after("e.contact_id", "claimed.newest_inbound_id")}
  AND NOT {contacts.has_new_phone("e.created_at")}
ORDER BY e.id FOR SHARE OF e
"""

IS_DUE = f"""
SELECT {HAS_RETURNING} OR {following.IS_FOLLOWED} OR coalesce(
  (SELECT t.next_send_at <= $1 {_OPEN} AND t.next_send_at IS NOT NULL ORDER BY t.next_send_at, t.id LIMIT 1), false)
"""

# An enrollment that was paused while its step was sent stays paused, before its next step: the key that keeps a step
# from being sent twice does not last for as long as a pause.
_IS_PAUSED = "(e.remaining IS NOT NULL AND coalesce(e.paused_until > $7, true))"
ADVANCE = f"""
WITH sent AS (
  SELECT e.id, s.next_send_at, s.message_id, {_IS_PAUSED} AS is_paused
  FROM sequence_enrollments e
  JOIN unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::timestamptz[], $5::timestamptz[], $6::bigint[])
    AS s(id, version, position, due_at, next_send_at, message_id)
    ON s.id = e.id AND s.version = e.steps_version AND s.position = e.position
    AND (s.due_at = e.next_send_at OR {_IS_PAUSED})
  WHERE e.status = 'active' ORDER BY e.id FOR UPDATE OF e
)
UPDATE sequence_enrollments e SET position = e.position + 1, claimed_until = NULL, attempts = 0,
  last_attempts = e.attempts,
  next_send_at = CASE WHEN sent.is_paused THEN e.paused_until + (sent.next_send_at - $7) ELSE sent.next_send_at END,
  remaining = CASE WHEN sent.is_paused THEN sent.next_send_at - $7 END,
  paused_until = CASE WHEN sent.is_paused AND sent.next_send_at IS NOT NULL THEN e.paused_until END,
  last_message_id = sent.message_id,
  status = CASE WHEN sent.next_send_at IS NULL THEN 'finishing' ELSE e.status END
FROM sent WHERE e.id = sent.id RETURNING e.id
"""

COUNT_SENT = """
WITH counted AS (
  SELECT step.id, c.sent FROM sequence_steps step
  JOIN (SELECT sequence_id, version, position, count(*) AS sent
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS s(sequence_id, version, position) GROUP BY 1, 2, 3) c
    USING (sequence_id, version, position)
  ORDER BY step.id FOR NO KEY UPDATE OF step
)
UPDATE sequence_steps step SET sent = step.sent + counted.sent FROM counted WHERE step.id = counted.id
"""

# An enrollment that was paused since its claim keeps the time of its pause, or none: with another one it would be sent.
_AS_CLAIMED = "WHERE id = $1 AND status = 'active' AND claimed_until = $2 AND next_send_at = $4"
TRY_LATER = f"""
UPDATE sequence_enrollments SET next_send_at = $3, attempts = $5, claimed_until = NULL {_AS_CLAIMED}
"""

PUT_OFF = f"UPDATE sequence_enrollments SET next_send_at = $3, claimed_until = NULL {_AS_CLAIMED}"

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
    _turns: TurnCursor = field(init=False, default_factory=partial(TurnCursor, FIND_TURNS))

    async def run(self) -> bool:
        """Send one batch of steps; return True when more may be due."""
        is_followed = await following.move_next(self.database, self.clock, self.notify)
        more = await bring_back(self.database.pool, self.clock.now()) or is_followed
        rows = await self._claim(self.clock.now())
        await self._set_aside([row for row in rows if _is_held(row)])
        open = [row for row in rows if not _is_held(row) and not await self._settle(row)]
        check = _unchanged(open)
        sent = await asyncio.gather(*(self._send(row, check) for row in open))
        await self._record(list(zip(open, sent, strict=True)))
        return more or len(rows) == self.batch

    async def due(self) -> bool:
        """Return whether a step is due."""
        return await self.database.pool.ask(IS_DUE, self.clock.now())

    async def _claim(self, now: datetime) -> Sequence[DueStep]:
        until, seconds = now + LEASE, LEASE.seconds
        found = (DueStep, CLAIM, now, until, self.batch, await self._turns.find(self.database.pool))
        return await claims.claim(self.database.pool, *found, give_back=self._release, seconds=seconds)

    async def _set_aside(self, rows: Sequence[DueStep]) -> None:
        if rows:
            claimed = [(row.id, row.claimed_until) for row in rows]
            await set_aside(self.database.pool, [row.sequence_id for row in rows], claimed)

    async def _settle(self, row: DueStep) -> bool:
        """End an enrollment, or put its step off to a later time of the day; return whether that was done.

        A step waits for the window of the sequence, and one that was missed for long for its time of the day.
        """
        if row.sent_as is not None:
            return False
        if reason := _exit_reason(row):
            await self._exit(row, reason)
            return True
        now = self.clock.now()
        is_missed = now - row.next_send_at >= MISSED
        if row.window_start is None and not is_missed:
            return False
        recipient = row.recipient_at(now)
        open = shift(recipient, row.next_send_at, now, row.id) if is_missed else open_at(recipient, now, row.id)
        if open > now:
            await self._put_off(row, open)
        return open > now

    async def _send(self, row: DueStep, check: Check) -> int | DomainError:
        """Send a step unless it was sent before; return the id of its message, or the error that refuses it."""
        if row.sent_as is not None:
            return row.sent_as
        send = Send(
            to=row.phone,
            body=_render(row),
            consent_attested=True,
            idempotency_key=step_key(row.id, row.key),
            purpose=Purpose.promotional,
            attestation=Attestation.enrollment,
            contact_id=row.contact_id,
            condition=Condition(check, row.id),
            can_wait=False,
        )
        actor = Actor(row.account_id, frozenset(), f"sequence:{row.sequence_id}", row.request_id)
        try:
            return (await self.acceptor.accept(actor, send)).message_id
        except DomainError as refusal:
            return refusal

    async def _record(self, results: Sequence[tuple[DueStep, int | DomainError]]) -> None:
        if sent := [(row, result) for row, result in results if isinstance(result, int)]:
            await claims.persist(lambda: self._advance(sent), LEASE.seconds)
        for row, result in results:
            if isinstance(result, DomainError):
                await claims.persist(partial(self._handle_refusal, row, result), LEASE.seconds)

    async def _advance(self, sent: Sequence[tuple[DueStep, int | None]]) -> None:
        """Advance enrollments to their next step, and settle those whose carrier has answered about their message.

        The messages are locked first, so that an answer either is seen here or is an event of a later transaction. A
        step without a message was skipped.
        """
        now = self.clock.now()
        async with self.database.pool.acquire() as connection, connection.transaction():
            results = await connection.fetch(messages.LOCK_RESULTS, [id for _, id in sent if id is not None])
            moved = await connection.fetch(
                ADVANCE,
                [row.id for row, _ in sent],
                [row.steps_version for row, _ in sent],
                [row.position for row, _ in sent],
                [row.next_send_at for row, _ in sent],
                [_next_send_at(row, now) for row, _ in sent],
                [id for _, id in sent],
                now,
            )
            ids = {row["id"] for row in moved}
            await _count_sent(connection, [row for row, id in sent if row.id in ids and id is not None])
            has_completed = await settle(connection, results, now)
        if has_completed:
            self.notify("events")

    async def _handle_refusal(self, row: DueStep, refusal: DomainError) -> None:
        """Retry a refused step later, skip it, or end its enrollment. Quiet hours and caps put it off until their time.

        After a change since the claim, or when the database was unreachable, the claim is released and the step is due
        at once; its idempotency key prevents a second send.
        """
        attempts = 0 if isinstance(refusal, OF_ACCOUNT) else row.attempts
        match refusal:
            case Unavailable() | Conflict():
                await self._release([row])
            case QuietHours() | FrequencyCap():
                await self._put_off(row, refusal.not_before or self.clock.now() + NEVER_OPEN)
            case _ if isinstance(refusal, PASSING) and attempts < len(RETRIES):
                at, counted = self.clock.now() + RETRIES[attempts], max(row.attempts, attempts + 1)
                await self.database.pool.execute(TRY_LATER, row.id, row.claimed_until, at, row.next_send_at, counted)
            case _ if isinstance(refusal, PASSING) and row.skips_refused and row.next_delay is not None:
                await self._advance([(row, None)])
            case _:
                await self._exit(row, refusal.code)

    async def _release(self, rows: Sequence[DueStep]) -> None:
        for row in rows:
            await self.database.pool.execute(RELEASE, row.id, row.claimed_until)

    async def _put_off(self, row: DueStep, until: datetime) -> None:
        await self.database.pool.execute(PUT_OFF, row.id, row.claimed_until, until, row.next_send_at)

    async def _exit(self, row: DueStep, reason: str) -> None:
        await self.database.pool.execute(EXIT, row.id, row.claimed_until, reason, self.clock.now())


def _render(row: DueStep) -> str:
    template = compiled(row.body, tuple(row.fallbacks.items()))
    return template.render(placeholders.values(row._asdict(), row.custom_fields)).text


def _exit_reason(row: DueStep) -> str | None:
    """Return the reason that ends an enrollment before its next step, whether or not its event was dispatched."""
    has_replied = row.exits_on_reply and any(quoted_replies.is_reply(body) for body in row.replies)
    found = {OPTED_OUT: row.has_opted_out, REPLIED: has_replied, STAGE: row.has_exit_stage, TAG: row.has_exit_tag}
    found[NEW_PHONE] = row.has_new_phone
    return next((reason for reason, holds in found.items() if holds), None)


def _is_held(row: DueStep) -> bool:
    """Return whether a step waits for the end of the pause of its sequence; one that was sent is advanced meanwhile."""
    return row.sequence_status == SequenceStatus.paused and row.sent_as is None


def _unchanged(rows: Sequence[DueStep]) -> Check:
    """Return the check of which enrollments have not changed since their claim, in sequences that are active."""
    claimed = {row.id: row for row in rows}

    async def check(connection: Connection, ids: Sequence[int]) -> Sequence[int]:
        asked = [claimed[id] for id in ids]
        active = await connection.fetch(LOCK_ACTIVE, list({row.sequence_id for row in asked}))
        rows = await connection.fetch(
            FIND_UNCHANGED,
            ids,
            [row.steps_version for row in asked],
            [row.next_send_at for row in asked],
            [row.newest_inbound_id for row in asked],
            [row["id"] for row in active],
        )
        return [row["id"] for row in rows]

    return check


def _next_send_at(row: DueStep, now: datetime) -> datetime | None:
    """Return the time of the next step; None after the last one."""
    if row.next_delay is None:
        return None
    is_late = row.attempts > 0 or now - row.next_send_at > LATE
    delay = Delay(row.next_days or 0, row.next_delay, row.next_at)
    return due_at(row.recipient_at(now), now, delay, row.id, APART if is_late else timedelta())


async def _count_sent(connection: Connection, rows: Sequence[DueStep]) -> None:
    if rows:
        columns = ([getattr(row, name) for row in rows] for name in ("sequence_id", "steps_version", "position"))
        await connection.execute(COUNT_SENT, *columns)

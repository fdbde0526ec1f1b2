"""Sends due texts about bookings: claim, send through the acceptor, record.

The claim is committed before the send. A worker that dies in between leaves a claim that expires; the repeated send has
the same idempotency key, and gets the stored answer.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import NamedTuple

from sqlalchemy import select

from app.db import claims
from app.db.engine import Connection, Database
from app.domain.accounts import queries as accounts
from app.domain.contacts import placeholders
from app.domain.contacts import queries as contacts
from app.domain.integrations import endings, texts
from app.domain.integrations.models import Booking, BookingTextKind, BookingTextStatus
from app.domain.kernel import sql
from app.domain.kernel.clock import Clock
from app.domain.kernel.errors import Conflict, DomainError, Unavailable
from app.domain.kernel.idempotency import OwnKey
from app.domain.kernel.sql import find_turns, take_turns
from app.domain.kernel.turn_cursor import TurnCursor
from app.domain.kernel.unit_of_work import Actor, Notify, open_unit
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.eligibility import gates
from app.domain.messages.models import Attestation
from app.domain.messages.requests import Check, Condition, Send
from app.domain.quiet_hours.errors import FrequencyCap, QuietHours
from app.domain.templates import sql as templates
from app.domain.templates.rendering import compiled

LEASE = timedelta(minutes=1)
RETRY = timedelta(minutes=2)

PASSING = (
    *gates.ACCOUNT.errors,
    *gates.ACCOUNT_DELETION.errors,
    *gates.CONTACT.errors,
    *gates.HOLD.errors,
    *gates.SENDER.errors,
    *gates.CREDITS.errors,
)
"""Refusals that may pass before the text expires; any other ends it."""

# The texts of a paused integration wait, but for those that are of no use any more.
_IS_DUE = "t.status = 'waiting' AND t.due_at <= $1 AND (t.claimed_until IS NULL OR t.claimed_until <= $1)"
_JOINED = """
JOIN bookings b ON b.id = t.booking_id
JOIN integrations i ON i.id = b.integration_id
  AND (i.status = 'active' OR (i.status = 'paused' AND t.expires_at <= $1))
"""
_DUE = f"FROM booking_texts t {_JOINED} WHERE {_IS_DUE}"
WAS_SENT = sql.is_answered("t.account_id", "chr(31) || 'booking/' || t.id")

FIND_TURNS = find_turns("booking_texts", "account_id", "status = 'waiting'")
CLAIM = f"""
WITH {take_turns("account_id", _DUE)}, claimed AS (
  UPDATE booking_texts t SET claimed_until = $2 FROM locked WHERE t.id = locked.id RETURNING t.*
)
SELECT t.id, t.account_id, t.booking_id, t.kind, t.expires_at, t.claimed_until, b.integration_id, b.phone,
  i.phone_number_id, i.texts, {templates.fallbacks_of("t.account_id")} AS fallbacks, {WAS_SENT} AS was_sent
FROM claimed t JOIN bookings b ON b.id = t.booking_id JOIN integrations i ON i.id = b.integration_id
ORDER BY t.due_at, t.id
"""
# OFFSET 0 keeps the planner from beginning with all bookings.
IS_DUE = f"SELECT EXISTS (SELECT FROM (SELECT * FROM booking_texts t WHERE {_IS_DUE} OFFSET 0) t {_JOINED})"

# An integration is not removed before the transaction of the sends ends.
FIND_UNCHANGED = """
SELECT t.id FROM booking_texts t JOIN unnest($1::bigint[], $2::timestamptz[]) AS claimed(id, until)
  ON claimed.id = t.id AND claimed.until = t.claimed_until
JOIN bookings b ON b.id = t.booking_id JOIN integrations i ON i.id = b.integration_id AND i.status <> 'removed'
WHERE t.status = 'waiting' ORDER BY t.id FOR SHARE OF t FOR KEY SHARE OF i
"""
RECORD_SENT = """
UPDATE booking_texts SET status = 'sent', reason = '', message_id = $2, sent_at = $3,
  claimed_until = NULL
WHERE id = $1 AND status <> 'sent'
"""
END = """
UPDATE booking_texts SET status = $3, reason = $4, claimed_until = NULL
WHERE id = $1 AND status = 'waiting' AND claimed_until = $2
"""
PUT_OFF = """
UPDATE booking_texts SET due_at = $3, reason = $4, attempts = attempts + 1, claimed_until = NULL
WHERE id = $1 AND status = 'waiting' AND claimed_until = $2
"""
RELEASE = "UPDATE booking_texts SET claimed_until = NULL WHERE id = $1 AND claimed_until = $2"


class DueText(NamedTuple):
    """A claimed text. `was_sent` is true when an earlier claim sent it."""

    id: int
    account_id: int
    booking_id: int
    kind: str
    expires_at: datetime
    claimed_until: datetime
    integration_id: int
    phone: str
    phone_number_id: int | None
    texts: dict[str, str]
    fallbacks: dict[str, str]
    was_sent: bool


@dataclass(frozen=True, slots=True)
class BookingTexts:
    """Sends due texts about bookings; safe to run concurrently."""

    database: Database
    acceptor: SendAcceptor
    clock: Clock
    notify: Notify
    batch: int = 64
    _turns: TurnCursor = field(init=False, default_factory=partial(TurnCursor, FIND_TURNS))

    async def run(self) -> bool:
        """Send one batch of texts; return True when more may be due.

        Those of an integration whose creator has ended wait, as it is paused; late ones are skipped.
        """
        now = self.clock.now()
        rows = await claims.claim(
            self.database.pool,
            DueText,
            CLAIM,
            now,
            now + LEASE,
            self.batch,
            await self._turns.find(self.database.pool),
            give_back=self._release,
            seconds=LEASE.seconds,
        )
        check = _unchanged(rows)
        ended = await endings.pause_ended(self.database.pool, [row.integration_id for row in rows], now)
        held = [row for row in rows if row.integration_id in ended and row.expires_at > now]
        await self._release(held)
        await asyncio.gather(*(self._attempt(row, check) for row in rows if row not in held))
        return len(rows) == self.batch

    async def due(self) -> bool:
        """Return whether a text is due."""
        return await self.database.pool.ask(IS_DUE, self.clock.now())

    async def _attempt(self, row: DueText, check: Check) -> None:
        if not row.was_sent and row.expires_at <= self.clock.now():
            await self._end(row, BookingTextStatus.skipped, "past")
            return
        body = "" if row.was_sent else await self._render(row)
        if not body and not row.was_sent:
            await self._end(row, BookingTextStatus.skipped, "no_text")
            return
        try:
            message_id = await self._send(row, body, check)
        except DomainError as refusal:
            await claims.persist(partial(self._handle_refusal, row, refusal), LEASE.seconds)
        else:
            record = partial(self.database.pool.execute, RECORD_SENT, row.id, message_id, self.clock.now())
            await claims.persist(record, LEASE.seconds)

    async def _send(self, row: DueText, body: str, check: Check) -> int:
        """Send a text, or find the message of an earlier claim; raise the error that refuses it."""
        send = Send(
            to=row.phone,
            body=body,
            consent_attested=True,
            from_phone_number_id=row.phone_number_id,
            idempotency_key=OwnKey("booking", row.id),
            attestation=Attestation.booking,
            condition=None if row.was_sent else Condition(check, row.id),
            can_wait=False,
        )
        actor = Actor(row.account_id, frozenset(), f"integration:{row.integration_id}")
        return (await self.acceptor.accept(actor, send)).message_id

    async def _render(self, row: DueText) -> str:
        """Return the text with the values of now; empty where the account sends none of the kind any more."""
        body = texts.find(row.texts, BookingTextKind(row.kind))
        if not body:
            return ""
        actor = Actor(row.account_id, frozenset(), f"integration:{row.integration_id}")
        async with open_unit(self.database.sessions, actor, self.clock, self.notify) as unit:
            booking = await unit.one(select(Booking).where(Booking.id == row.booking_id))
            if booking is None or booking.starts_at is None:
                return ""
            account, contact = await accounts.get_own(unit), await contacts.find_by_phone(unit, row.phone)
            person = placeholders.of_contact(contact) if contact else {"phone": row.phone}
            known = person | texts.values(booking, account.time_zone)
        filled = compiled(body, tuple(row.fallbacks.items())).render({**known, "company_name": account.company_name})
        return filled.text

    async def _handle_refusal(self, row: DueText, refusal: DomainError) -> None:
        """Try a refused text again while it is of use; otherwise record the code of the error."""
        if isinstance(refusal, Unavailable | Conflict):
            await self._release([row])
            return
        now = self.clock.now()
        at = now + RETRY
        if isinstance(refusal, QuietHours | FrequencyCap):
            at = refusal.not_before or row.expires_at
        elif not isinstance(refusal, PASSING):
            at = row.expires_at
        if at < row.expires_at:
            await self.database.pool.execute(PUT_OFF, row.id, row.claimed_until, at, refusal.code)
        else:
            await self._end(row, BookingTextStatus.refused, refusal.code)

    async def _end(self, row: DueText, status: BookingTextStatus, reason: str) -> None:
        await self.database.pool.execute(END, row.id, row.claimed_until, status, reason)

    async def _release(self, rows: Sequence[DueText]) -> None:
        for row in rows:
            await self.database.pool.execute(RELEASE, row.id, row.claimed_until)


def _unchanged(rows: Sequence[DueText]) -> Check:
    """Return the check of which texts are claimed as they were, and wait, of integrations that are not removed."""
    claimed_until = {row.id: row.claimed_until for row in rows}

    async def check(connection: Connection, ids: Sequence[int]) -> Sequence[int]:
        rows = await connection.fetch(FIND_UNCHANGED, ids, [claimed_until[id] for id in ids])
        return [row["id"] for row in rows]

    return check

"""Queue of outgoing texts: a narrow table whose rows are claimed by workers and deleted once a carrier has answered."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from sqlalchemy import delete, func, select, update

from app.db import rows
from app.db.engine import Pool
from app.domain.accounts import sql as accounts
from app.domain.carriers import sql as carriers
from app.domain.consent import sql as consent
from app.domain.contacts import sql as contacts
from app.domain.kernel.sql import find_values
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages.eligibility import facts
from app.domain.messages.eligibility.facts import QueuedFacts
from app.domain.messages.eligibility.limited import Limits, limits_of, recipient_of
from app.domain.messages.models import Message, MessageStatus, Outgoing, Purpose
from app.domain.numbers import sql as numbers
from app.domain.quiet_hours.limits import decide

LANES = (Purpose.compliance, Purpose.conversational, Purpose.transactional, Purpose.promotional)
"""The lanes, the most urgent first. A lane gets the room that those before it leave."""

PROMOTIONAL = LANES.index(Purpose.promotional)
"""The lane whose texts are claimed, and their calls begun, apart from those of the others."""

RELEASED = ""
"""The connection of waiting texts whose number was released: workers fail them, whichever connection they have."""

FIRST = ("", "")
"""The place before every number."""

MOST_NUMBERS = 64
"""Numbers of a lane that one claim serves; the next continues after them."""

INSERT = """
INSERT INTO outgoing (message_id, account_id, lane, number, carrier, segments, due_at, claimed_until, expires_at,
  attempts)
SELECT message_id, account_id, lane, number, carrier, segments, due_at, claimed_until, expires_at,
  (claimed_until IS NOT NULL)::int
FROM ({rows}) AS queued
"""
"""Add texts to the queue; the columns of `rows` are those of the table, except `attempts`."""

# Numbers are found by index one after another, so that a backlog of one number costs the others nothing. The LIMIT has
# PostgreSQL expect as many lanes of any arrays as of given ones: else it would plan the statement for each call.
_FIRST = """
  (SELECT number, account_id, carrier FROM outgoing o WHERE {condition} AND claimed_until IS NULL
  ORDER BY o.carrier, o.number, due_at, message_id LIMIT 1)
"""
_AFTER_NUMBER = "o.lane = {place}.lane AND (o.carrier, o.number) > ({place}.carrier, {place}.number)"
_AFTER_CARRIER = "o.lane = w.lane AND o.carrier > w.carrier"
_IS_SENDING = carriers.is_sending("next.carrier", "$4", "$5")
FIND_NUMBERS = f"""
WITH RECURSIVE walk AS (
  SELECT l.lane, next.*, is_sending, is_sending::int AS step
  FROM (SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[]) LIMIT {len(LANES)}) AS l(lane, carrier, number)
  CROSS JOIN LATERAL {_FIRST.format(condition=_AFTER_NUMBER.format(place="l"))} next
  CROSS JOIN LATERAL (SELECT {_IS_SENDING} AS is_sending) carrier
  UNION ALL
  SELECT w.lane, next.*, carrier.is_sending, w.step + carrier.is_sending::int FROM walk w CROSS JOIN LATERAL (
    {_FIRST.format(condition=f"w.is_sending AND {_AFTER_NUMBER.format(place='w')}")} UNION ALL
    {_FIRST.format(condition=f"NOT w.is_sending AND {_AFTER_CARRIER}")}
  ) next CROSS JOIN LATERAL (SELECT {_IS_SENDING} AS is_sending) carrier
  WHERE w.step < {MOST_NUMBERS}
)
SELECT w.lane, w.number, w.account_id, w.carrier, n.parts_per_second, b.free_at AS number_free_at,
  c.free_at AS carrier_free_at
FROM walk w {numbers.join_rate("w.number")}
LEFT JOIN token_buckets b ON b.kind = 'number' AND b.name = w.number
LEFT JOIN token_buckets c ON c.kind = 'carrier' AND c.name = w.carrier
WHERE w.is_sending ORDER BY w.lane, w.step
"""
"""Walks over the numbers of each lane `$1` after the number `$3` of the carrier `$2`.

A connection that is paused, or served by other processes (`$4` and `$5`), costs one step.
"""

# Few texts wait for an hour, and only those may have been sent later.
SINCE = """
coalesce(CASE WHEN m.created_at < o.claimed_until - interval '1 hour'
  THEN (SELECT send_at FROM scheduled_texts t WHERE t.message_id = o.message_id) END, m.created_at)"""
"""The time from which a text was meant to leave."""

FACTS = f"""
SELECT o.message_id, o.account_id, o.number, o.carrier, o.claimed_until, o.attempts, o.unanswered_since,
  o.asked_since, o.tried_since, m.contact_id, m.from_number, m.to_number, m.body, o.segments, m.cost, m.purpose,
  m.request_id, {SINCE} AS created_at, c.first_name,
  c.last_name, {facts.recipient("o.account_id", "m.to_number")}, {accounts.status_of("o.account_id")} AS account_status,
  o.carrier <> '{RELEASED}' AND {numbers.is_active("o.number", "o.account_id")} AS has_number,
  {numbers.is_refused("o.number", "o.account_id")} AS is_refused, o.expires_at,
  CASE WHEN o.expires_at IS NOT NULL AND o.lane <> {LANES.index(Purpose.compliance)}
    THEN {limits_of("o.account_id", "m.to_number", "o.message_id")} END AS limits
"""

# A LIMIT, or an array of ids, has each text found by its id, also by a plan of a time with few texts.
_MESSAGE = "LEFT JOIN LATERAL (SELECT * FROM messages WHERE id = o.message_id LIMIT 1) m ON m.status = 'pending'"
JOINS = f"{_MESSAGE} LEFT {contacts.join('m.contact_id')}"
# A plan of a time with few texts would sort all of them.
KEEP_ORDER = "SET LOCAL enable_sort = off"

# The due texts of each number are locked up to its share of the room.
LOCK_WAITING = f"""
SELECT o.message_id, o.account_id, {accounts.WEIGHT}, o.lane, o.number, o.carrier, o.segments, o.due_at, m.to_number
FROM unnest($2::bigint[], $3::text[], $4::text[], $5::bigint[]) AS n(lane, carrier, number, share)
CROSS JOIN LATERAL (
  SELECT message_id, account_id, lane, number, carrier, segments, due_at FROM outgoing o
  WHERE (o.lane, o.carrier, o.number) >= (n.lane, n.carrier, n.number)
    AND (o.lane, o.carrier, o.number, o.due_at) <= (n.lane, n.carrier, n.number, $1) AND claimed_until IS NULL
  ORDER BY o.lane, o.carrier, o.number, due_at, message_id LIMIT n.share FOR UPDATE SKIP LOCKED
) o {accounts.join("o.account_id")} {_MESSAGE}
"""
CLAIM = """
UPDATE outgoing SET claimed_until = $2, attempts = attempts + 1 WHERE message_id = ANY($1::text::bigint[])
"""

FIND_CLAIM = f"""
SELECT o.message_id, o.account_id, o.lane, o.number, o.carrier, o.claimed_until, o.segments, m.to_number
FROM outgoing o {_MESSAGE} WHERE o.message_id = $1 AND o.claimed_until = $2
"""

KEEP_FROM_OPTING_OUT = f"""
SELECT id FROM unnest($1::text::bigint[], $2::text::bigint[], $3::text::text[]) AS k(id, account_id, phone)
WHERE phone IS NULL OR {consent.may_call("account_id", "phone")}
"""
"""Keep the phones of texts from opting out until the transaction ends; return the texts whose phones do not now."""

FIND_CLAIMED = f"""
{FACTS} FROM unnest($1::text::bigint[], $2::timestamptz[]) AS k(id, until)
CROSS JOIN LATERAL (SELECT * FROM outgoing WHERE message_id = k.id LIMIT 1) o {JOINS}
WHERE o.claimed_until = coalesce(k.until, $3)
"""
"""Find the claimed texts `$1`; each within its claim until `$2`, or until `$3` where that is null."""

_LAPSED = f"""
WITH RECURSIVE {find_values("outgoing", "account_id", "claimed_until IS NOT NULL", "claimed")}, lapsed AS (
  SELECT account_id, oldest.claimed_until FROM claimed c CROSS JOIN LATERAL (
    SELECT claimed_until FROM outgoing o WHERE o.account_id = c.account_id AND claimed_until <= $1 AND {{is_served}}
    ORDER BY claimed_until LIMIT 1
  ) oldest
)
"""
_IS_SERVED = carriers.is_served("o.carrier", "{role}", "{keys}")

# Of the accounts whose texts have waited for longest, each has an equal share of the room.
LOCK_LAPSED = f"""{_LAPSED.format(is_served=_IS_SERVED.format(role="$3", keys="$4"))}, first AS MATERIALIZED (
  SELECT account_id, ceil($2::bigint / count(*) OVER ())::bigint AS share FROM lapsed ORDER BY claimed_until LIMIT $2
)
SELECT o.message_id, o.account_id, {accounts.WEIGHT}, 0 AS lane, o.number, o.carrier, o.segments,
  o.claimed_until AS due_at, NULL AS to_number
FROM first CROSS JOIN LATERAL (
  SELECT message_id, account_id, number, carrier, segments, claimed_until FROM outgoing o
  WHERE o.account_id = first.account_id AND claimed_until <= $1 AND {_IS_SERVED.format(role="$3", keys="$4")}
  ORDER BY claimed_until, message_id LIMIT first.share FOR UPDATE SKIP LOCKED
) o {accounts.join("o.account_id")}
"""
CLAIM_LAPSED = f"""
WITH o AS (UPDATE outgoing SET claimed_until = $2 WHERE message_id = ANY($1::text::bigint[]) RETURNING *)
{FACTS} FROM o {JOINS}
"""

# A number may have been moved to another connection, or released, since the claim; it stays so until the commit. A text
# that was held since is due at infinity, and stays so: see `sending.cancellation`.
_CARRIER = numbers.find_carrier("o.number", "o.account_id", lock="FOR SHARE")
_PUT_BACK = f"""
WITH put_back AS (
  UPDATE outgoing o SET claimed_until = NULL, {{changes}}, carrier = coalesce({_CARRIER}, '{RELEASED}'),
    due_at = CASE WHEN {_CARRIER} IS NULL THEN least(o.due_at, now()) WHEN isfinite(o.due_at) THEN {{due_at}}
      ELSE o.due_at END
  WHERE message_id = ANY($1::bigint[]) AND claimed_until = $2 RETURNING message_id, carrier
)
UPDATE messages m SET carrier = p.carrier FROM put_back p
WHERE m.id = p.message_id AND p.carrier NOT IN (m.carrier, '{RELEASED}')
"""
GIVE_BACK = _PUT_BACK.format(changes="attempts = o.attempts - 1", due_at="o.due_at")
PUT_BACK = _PUT_BACK.format(
    changes="unanswered_since = CASE WHEN $4 THEN NULL ELSE o.unanswered_since END, asked_since = NULL,"
    " tried_since = coalesce(o.tried_since, $5)",
    due_at="$3",
)
PUT_OFF = _PUT_BACK.format(changes="attempts = o.attempts - 1", due_at="$3")
ASK_NOW = """
UPDATE outgoing SET claimed_until = $3 WHERE message_id = ANY($1::bigint[]) AND claimed_until = $2
"""
ASK_LATER = """
UPDATE outgoing SET claimed_until = $3, unanswered_since = coalesce(unanswered_since, $4),
  asked_since = coalesce(asked_since, $4)
WHERE message_id = $1 AND claimed_until = $2
"""
REMOVE = "DELETE FROM outgoing WHERE message_id = ANY($1::bigint[])"

WAITING = f"""
WITH RECURSIVE {find_values("outgoing", "carrier", "claimed_until IS NULL")}
"""
"""The carriers with waiting texts."""

IS_DUE = f"""{WAITING}
SELECT EXISTS (
  SELECT FROM waiting w CROSS JOIN LATERAL (
    SELECT FROM outgoing o WHERE o.carrier = w.carrier AND o.claimed_until IS NULL AND o.due_at <= $1 LIMIT 1
  ) due
  WHERE {carriers.is_sending("w.carrier", "$2", "$3")}
)
"""
IS_LAPSED = f"""{_LAPSED.format(is_served=_IS_SERVED.format(role="$2", keys="$3"))}
SELECT EXISTS (SELECT FROM lapsed)
"""


class Claim(NamedTuple):
    """A text that this process may hand off until `claimed_until`; `to_number` is None if it is no longer pending."""

    message_id: int
    account_id: int
    lane: int
    number: str
    carrier: str
    claimed_until: datetime
    segments: int
    to_number: str | None


class ClaimedText(NamedTuple):
    """A claimed text with the facts that the gates decide by.

    Of a text that is no longer pending, or was erased, only the facts of the queue are known: `body` is None.
    """

    message_id: int
    account_id: int
    number: str
    carrier: str
    claimed_until: datetime
    attempts: int
    unanswered_since: datetime | None
    asked_since: datetime | None
    tried_since: datetime | None
    contact_id: int
    from_number: str
    to_number: str
    body: str | None
    segments: int
    cost: Decimal
    purpose: str
    request_id: str | None
    created_at: datetime
    first_name: str | None
    last_name: str | None
    contact_status: str | None
    dnd_sms: bool | None
    held_until: datetime | None
    reach: str | None
    suppressed: bool
    account_status: str
    has_number: bool
    is_refused: bool
    expires_at: datetime | None
    limits: Limits | None

    def facts_at(self, now: datetime) -> QueuedFacts:
        """Return the facts that the gates decide by at a time."""
        timing = self.limits and decide(recipient_of(self.to_number, self.limits, now), now, self.message_id)
        return QueuedFacts(
            self.purpose,
            self.account_status,
            self.to_number,
            self.contact_status,
            self.dnd_sms,
            self.held_until,
            self.suppressed,
            self.number,
            self.has_number,
            timing=timing or None,
            latest=self.expires_at,
        )


class WaitingNumber(NamedTuple):
    """A number with texts waiting in a lane, the account and the carrier of the first of them, and their paces.

    `parts_per_second` is None for a number without a pace; the others are None where there is no token bucket.
    """

    lane: int
    number: str
    account_id: int
    carrier: str
    parts_per_second: float | None
    number_free_at: datetime | None
    carrier_free_at: datetime | None


@dataclass(slots=True)
class NumberCursor:
    """Finds the numbers that have texts waiting, in each lane those after the numbers that it found last.

    A number is identified by its carrier and itself.
    """

    _after: list[tuple[str, str]] = field(default_factory=lambda: [FIRST] * len(LANES))
    _ended: set[int] = field(default_factory=set)

    @property
    def has_more(self) -> bool:
        """Tell whether a lane has numbers that were not found since the last time that all lanes had ended."""
        return len(self._ended) < len(LANES)

    async def find(self, pool: Pool, role: str, keys: Sequence[str] | None) -> list[WaitingNumber]:
        """Return the most urgent lane first, and at most `MOST_NUMBERS` of each lane.

        Only numbers whose connections a process of a role hands texts over to, see `carriers.sql.is_sending`.
        """
        lanes = range(len(LANES))
        if not self.has_more:
            self._ended.clear()
        after = list(lanes), [carrier for carrier, _ in self._after], [number for _, number in self._after]
        found = await rows.fetch(pool, WaitingNumber, FIND_NUMBERS, *after, role, keys)
        for lane in lanes:
            numbers = [(each.carrier, each.number) for each in found if each.lane == lane]
            if len(numbers) == MOST_NUMBERS:
                self._after[lane] = numbers[-1]
            else:
                self._after[lane] = FIRST
                self._ended.add(lane)
        return found


def lane_of(purpose: Purpose) -> int:
    """Return the place of a text among `LANES`."""
    return LANES.index(purpose)


async def add(unit: UnitOfWork, message: Message, expires_at: datetime | None = None) -> None:
    """Add a message that is written in this transaction, due at once."""
    row = Outgoing(
        message_id=message.id,
        account_id=message.account_id,
        lane=lane_of(Purpose(message.purpose)),
        number=message.from_number,
        carrier=message.carrier,
        segments=message.segments,
        due_at=message.created_at,
        expires_at=expires_at,
    )
    await unit.save(row)
    unit.notify("messages")


async def count_at(unit: UnitOfWork, carrier: str) -> int:
    """Return the number of texts that have not left through a connection."""
    return await unit.one(select(func.count()).select_from(Outgoing).where(Outgoing.carrier == carrier)) or 0


async def move(unit: UnitOfWork, number: str, carrier: str) -> None:
    """Let the unclaimed texts of a number of the account leave through another connection."""
    waiting = Outgoing.account_id == unit.actor.account_id, Outgoing.number == number, Outgoing.carrier != carrier
    moved = update(Outgoing).where(*waiting, Outgoing.claimed_until.is_(None)).values(carrier=carrier)
    ids = (await unit.execute(moved.returning(Outgoing.message_id))).scalars().all()
    await unit.execute(update(Message).where(Message.id.in_(ids)).values(carrier=carrier))


async def release(unit: UnitOfWork, number: str) -> None:
    """Let workers fail the unclaimed texts of a number that the account releases, also held and deferred ones."""
    waiting = Outgoing.account_id == unit.actor.account_id, Outgoing.number == number, Outgoing.claimed_until.is_(None)
    await unit.execute(update(Outgoing).where(*waiting).values(carrier=RELEASED, due_at=unit.clock.now()))


async def cancel(unit: UnitOfWork, contact_id: int) -> Sequence[int]:
    """Remove the unclaimed texts to a contact, except those that the law requires; return their ids."""
    waiting = select(Message.id).where(
        Message.account_id == unit.actor.account_id,
        Message.contact_id == contact_id,
        Message.status == MessageStatus.pending,
        Message.purpose != Purpose.compliance,
    )
    ids = await unit.all(waiting.order_by(Message.id).with_for_update())
    removed = delete(Outgoing).where(Outgoing.message_id.in_(ids), Outgoing.claimed_until.is_(None))
    return sorted((await unit.execute(removed.returning(Outgoing.message_id))).scalars())


async def end_claim(unit: UnitOfWork, text: ClaimedText) -> bool:
    """Remove a text from the queue; return False where another worker has the claim now. Locks the message first."""
    await unit.all(select(Message.id).where(Message.id == text.message_id).with_for_update())
    claimed = Outgoing.message_id == text.message_id, Outgoing.claimed_until == text.claimed_until
    ended = await unit.execute(delete(Outgoing).where(*claimed).returning(Outgoing.message_id))
    return ended.scalar_one_or_none() is not None

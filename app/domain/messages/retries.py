"""Later attempts of texts that a carrier refuses for a cause that passes: its limit of a day, or its hours.

Such a text waits in the queue again: for the next day, or for the next opening of the recipient's window. It keeps its
debit, and fails only when it could leave no earlier than `LONGEST` after the time at which it was sent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple, TypeVar

from app.db.engine import Connection
from app.db.rows import fetch, integers, texts
from app.domain.carriers.carrier import FailureCode, Rejected
from app.domain.messages.eligibility import limited
from app.domain.messages.models import Purpose
from app.domain.messages.outgoing import LANES, RELEASED
from app.domain.numbers import sql as numbers
from app.domain.quiet_hours import sql as quiet_hours
from app.domain.quiet_hours import windows
from app.domain.quiet_hours.limits import LONGEST, Deferral, Recipient

RULES: Mapping[str, str] = {
    FailureCode.daily_cap: "carrier.daily_cap",
    FailureCode.quiet_hours_carrier: "carrier.quiet_hours",
}
"""The causes that pass, and the ids under which they are shown as the rule of a deferral."""

R = TypeVar("R")

DAY, HOUR, HOURS = timedelta(days=1), timedelta(hours=1), 24

FIND = """
SELECT m.id, m.account_id, m.to_number, m.purpose,
  coalesce((SELECT send_at FROM scheduled_texts t WHERE t.message_id = m.id), m.created_at) AS since
FROM messages m WHERE m.id = ANY($1::bigint[])
"""

# The old id stays known under a number that no message has: further receipts of that attempt are dropped.
_CARRIER = numbers.find_carrier("m.from_number", "m.account_id", lock="FOR SHARE")
REQUEUE = f"""
WITH retried AS (
  SELECT * FROM unnest($1::text::bigint[], $2::timestamptz[], $3::timestamptz[], $4::text::text[])
    AS r(id, until, latest, named)
), superseded AS (
  UPDATE carrier_ids n SET message_id = -n.message_id FROM retried r JOIN messages m USING (id)
  WHERE n.carrier = m.carrier AND n.provider_message_id = r.named AND n.direction = 'outbound' AND n.message_id = r.id
), counted AS (
{quiet_hours.count_later("retried")})
INSERT INTO outgoing (message_id, account_id, lane, number, carrier, segments, due_at, expires_at)
SELECT m.id, m.account_id, array_position(ARRAY{[str(lane) for lane in LANES]}, m.purpose) - 1, m.from_number,
  coalesce(own.carrier, '{RELEASED}'), m.segments, CASE WHEN own.carrier IS NULL THEN now() ELSE r.until END,
  CASE WHEN m.id IN (SELECT message_id FROM counted) THEN r.latest END
FROM retried r JOIN messages m USING (id) CROSS JOIN LATERAL (SELECT {_CARRIER} AS carrier) own
ON CONFLICT (message_id) DO NOTHING
"""
MOVE = """
UPDATE messages m SET carrier = o.carrier FROM outgoing o
WHERE m.id = ANY($1::bigint[]) AND o.message_id = m.id AND o.carrier NOT IN ('', m.carrier)
"""


class RefusedText(NamedTuple):
    """A text that a carrier refused; `since` is the time from which it was meant to leave."""

    id: int
    account_id: int
    to_number: str
    purpose: str
    since: datetime


class Retry(NamedTuple):
    """The next attempt: its time with the rule, the latest possible time, and the time zones of the recipient."""

    deferral: Deferral
    latest: datetime
    zones: Sequence[str]


def retryable(result: R) -> R | Rejected:
    """Return the result of a call, as one to try again where its cause passes."""
    return replace(result, retryable=True) if isinstance(result, Rejected) and result.code in RULES else result


async def find(connection: Connection, refused: Mapping[int, str], now: datetime) -> dict[int, Retry]:
    """Return the next attempts of refused messages, from their causes; those that have none are left out."""
    rows = await fetch(connection, RefusedText, FIND, list(refused)) if refused else []
    return await decide(connection, [(row, refused[row.id]) for row in rows], now)


async def decide(connection: Connection, refused: Sequence[tuple[RefusedText, str]], now: datetime) -> dict[int, Retry]:
    """Return the next attempts of texts with the causes of their refusal; a reply that the law requires has none."""
    wanted = [(text, code) for text, code in refused if code in RULES and text.purpose != Purpose.compliance]
    if not wanted:
        return {}
    phones = [(text.account_id, text.to_number) for text, _ in wanted]
    recipients = await limited.find_recipients(connection, phones, now)
    decided: dict[int, Retry] = {}
    for (text, code), recipient in zip(wanted, recipients, strict=True):
        until, latest = _next_time(code, recipient, now, text.id), text.since + LONGEST
        if until and until <= latest:
            decided[text.id] = Retry(Deferral(until, RULES[code]), latest, recipient.place.zones)
    return decided


async def requeue(connection: Connection, retried: Mapping[int, tuple[Retry, str]]) -> None:
    """Put messages, which are pending again, into the queue; with the id that the carrier gave to the last attempt."""
    ids, retries = list(retried), [retry for retry, _ in retried.values()]
    until = [retry.deferral.until for retry in retries]
    named = texts(named for _, named in retried.values())
    await connection.execute(REQUEUE, integers(ids), until, [retry.latest for retry in retries], named)
    await connection.execute(MOVE, ids)
    await show(connection, dict(zip(ids, retries, strict=True)))


async def show(connection: Connection, retried: Mapping[int, Retry]) -> None:
    """Show the times of the next attempts at the messages."""
    await limited.show(connection, [(id, retry.deferral, retry.zones) for id, retry in retried.items()])


def _next_time(code: str, recipient: Recipient, now: datetime, seed: int) -> datetime | None:
    return now + DAY if code == FailureCode.daily_cap else _next_opening(recipient, now, seed)


def _next_opening(recipient: Recipient, now: datetime, seed: int) -> datetime | None:
    """Return the next opening of the recipient's window; the next day where it never closes.

    Where it is open now, the window of the carrier is narrower, and the text waits until ours has closed and opened.
    """
    place, week = recipient.place, recipient.book.week(recipient.place.jurisdiction)
    hours = (now + HOUR * count for count in range(HOURS))
    closed = next((at for at in hours if not windows.is_open(at, place.zones, week)), None)
    if closed is None:
        return now + DAY
    opening = windows.find_open(closed, place.zones, week)
    return opening and windows.spread(opening, seed, place.zones, week)

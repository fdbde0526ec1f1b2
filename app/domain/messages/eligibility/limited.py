"""Texts that obey quiet hours and frequency caps: the facts that decide when they may leave."""

from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, TypedDict

from app.db.engine import Connection, Pool
from app.db.rows import fetch
from app.domain.accounts import sql as accounts
from app.domain.contacts import sql as contacts
from app.domain.messages.models import Purpose
from app.domain.messages.requests import Send
from app.domain.quiet_hours import limits, queries
from app.domain.quiet_hours import sql as quiet_hours
from app.domain.quiet_hours.limits import LONGEST, Deferral, Recipient, Timing
from app.domain.quiet_hours.queries import OwnRule
from app.domain.quiet_hours.rules import Rulebook
from app.domain.quiet_hours.zones import PREFIX, find_place

NO_MESSAGE = 0
"""The id of a text that has none yet: all texts to its phone count before it."""


Attempts = list[tuple[str, bool]]
"""The times of texts in ISO 8601, and whether each has left."""


class AccountLimits(TypedDict):
    """The stored facts about an account that its limited texts depend on, in JSON: its zone, cap and own rules."""

    account_zone: str | None
    weekly_cap: int
    rules: list[OwnRule] | None


class Limits(AccountLimits):
    """The stored facts about a phone, with those of the account, in JSON."""

    contact_zone: str | None
    attempts: Attempts | None


def limits_of(account_id: str, phone: str, message_id: str) -> str:
    """Return the `Limits` of a phone, as an SQL expression whose arguments are expressions of the statement."""
    attempts = quiet_hours.attempts("k.account_id", "k.phone", "k.id")
    return f"""(SELECT to_jsonb(l) FROM (
    SELECT {contacts.ZONE}, {accounts.LIMITS}, {attempts} AS attempts, {quiet_hours.rules("a.id")} AS rules
    FROM (SELECT {account_id} AS account_id, {phone} AS phone, {message_id} AS id) AS k
    {accounts.join("k.account_id")} {contacts.join_by_phone("k.account_id", "k.phone")}) AS l)"""


FIND = f"""
SELECT {contacts.ZONE}, {quiet_hours.attempts("r.account_id", "r.phone", str(NO_MESSAGE))} AS attempts,
  CASE WHEN r.is_first THEN (SELECT to_jsonb(l) FROM (
    SELECT {accounts.LIMITS}, {quiet_hours.rules("a.id")} AS rules FROM (SELECT r.account_id) AS own(id)
    {accounts.join("own.id")}
  ) AS l) END AS of_account
FROM (
  SELECT *, row_number() OVER (PARTITION BY account_id ORDER BY place) = 1 AS is_first
  FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS wanted(account_id, phone, place)
) AS r {contacts.join_by_phone("r.account_id", "r.phone")} ORDER BY r.place
"""
"""Find the facts about phones; the first phone of each account has those of the account."""

FIND_ACCOUNT = f"""
SELECT to_jsonb(l) FROM (
  SELECT {accounts.LIMITS}, {quiet_hours.rules("a.id")} AS rules FROM (SELECT $1::bigint) AS own(id)
  {accounts.join("own.id")}
) AS l
"""
"""Find the `AccountLimits` of the account `$1`."""

SHOW = """
UPDATE messages m SET deferred_until = d.until, deferral_rule = d.rule, deferral_zones = d.zones::text[]
FROM unnest($1::bigint[], $2::timestamptz[], $3::text[], $4::text[]) AS d(id, until, rule, zones) WHERE m.id = d.id
"""
"""Show the times for which messages were put off, with their rules and zones; each array of zones is its text."""


def is_limited(purpose: str, *, limits_transactional: bool) -> bool:
    """Return whether a text obeys quiet hours and caps: promotional ones do, and transactional ones if asked for."""
    return purpose == Purpose.promotional or (limits_transactional and purpose == Purpose.transactional)


class Stored(NamedTuple):
    """The stored facts about a phone that is read with others, as `FIND` returns them."""

    contact_zone: str | None
    attempts: Attempts | None
    of_account: AccountLimits | None


def recipient_of(phone: str, known: Limits, now: datetime) -> Recipient:
    """Return the recipient with a phone in E.164; a text that is late counts as if it left now."""
    stored = Stored(known["contact_zone"], known["attempts"], known)
    return _recipient(phone, stored, known, queries.book_of(known["rules"]), now)


def _recipient(phone: str, stored: Stored, of_account: AccountLimits, book: Rulebook, now: datetime) -> Recipient:
    place = find_place(phone, stored.contact_zone, of_account["account_zone"])
    times = ((datetime.fromisoformat(at), has_left) for at, has_left in stored.attempts or ())
    attempts = sorted(at if has_left else max(at, now) for at, has_left in times)
    return Recipient(place, book, of_account["weekly_cap"], attempts)


@dataclass(frozen=True, slots=True)
class AccountTimings:
    """The limits of one account: when its texts may leave that are sent now.

    Where no text to a phone counts yet, its place alone decides whether a text may leave now.
    """

    now: datetime
    limits: AccountLimits
    book: Rulebook
    _open: dict[tuple[str, str | None], Timing] = field(default_factory=dict)

    @classmethod
    async def read(cls, connection: Connection, account_id: int, now: datetime) -> "AccountTimings":
        """Read the limits of an account."""
        found = await connection.fetchval(FIND_ACCOUNT, account_id)
        return cls(now, found, queries.book_of(found["rules"]))

    def decide(self, phone: str, contact_zone: str | None, attempts: Attempts | None, message_id: int) -> Timing:
        """Return when a text to a phone may leave."""
        key = phone[:PREFIX], contact_zone
        if attempts is None and key in self._open:
            return self._open[key]
        stored = Stored(contact_zone, attempts, None)
        timing = limits.decide(_recipient(phone, stored, self.limits, self.book, self.now), self.now, message_id)
        if attempts is None and timing.deferral is None:
            self._open[key] = timing
        return timing


async def find_recipients(
    source: Connection | Pool, wanted: Sequence[tuple[int, str]], now: datetime
) -> list[Recipient]:
    """Return the recipients of texts that are not accepted yet, by their accounts and phones."""
    accounts_of, phones = [account for account, _ in wanted], [phone for _, phone in wanted]
    rows = await fetch(source, Stored, FIND, accounts_of, phones)
    of_accounts = {id: row.of_account for id, row in zip(accounts_of, rows, strict=True) if row.of_account}
    books = {id: queries.book_of(found["rules"]) for id, found in of_accounts.items()}
    asked = zip(accounts_of, phones, rows, strict=True)
    return [_recipient(phone, row, of_accounts[id], books[id], now) for id, phone, row in asked]


async def show(connection: Connection, deferred: Iterable[tuple[int, Deferral, Sequence[str]]]) -> None:
    """Show the deferrals of messages, with the time zones of their recipients."""
    rows = [(id, deferral.until, deferral.rule, f"{{{','.join(zones)}}}") for id, deferral, zones in deferred]
    if rows:
        await connection.execute(SHOW, *map(list, zip(*rows, strict=True)))


@dataclass(slots=True)
class LimitedBatch:
    """The limited texts of a batch that is accepted; each counts for those after it."""

    now: datetime
    _recipients: dict[tuple[int, str], Recipient] = field(default_factory=dict)
    _attempts: dict[tuple[int, str], list[datetime]] = field(default_factory=dict)
    _taken: list[tuple[int, int, str, Timing, datetime]] = field(default_factory=list)

    @property
    def latest(self) -> datetime:
        """Return the time after which no text of the batch leaves."""
        return self.now + LONGEST

    def latest_of(self, send: Send) -> datetime | None:
        """Return the time until which a send can wait; None for one whose caller waits, or that may not be put off."""
        return (send.send_at or self.now) + LONGEST if send.can_wait and not send.claim else None

    async def read(self, connection: Connection | Pool, wanted: Iterable[tuple[int, str]]) -> None:
        """Read the facts about the phones of texts, by account and phone."""
        keys = list(dict.fromkeys(wanted))
        for key, found in zip(keys, await find_recipients(connection, keys, self.now) if keys else (), strict=True):
            attempts = list(found.attempts)
            self._attempts[key] = attempts
            self._recipients[key] = Recipient(found.place, found.book, found.weekly_cap, attempts)

    def decide(self, account_id: int, phone: str, message_id: int, send_at: datetime | None = None) -> Timing | None:
        """Return when a text that is sent now, or later, may leave; None for one that is not limited."""
        recipient = self._recipients.get((account_id, phone))
        return limits.decide(recipient, send_at or self.now, message_id) if recipient else None

    def take(
        self, account_id: int, phone: str, message_id: int, timing: Timing, send_at: datetime | None = None
    ) -> datetime:
        """Let a text count from the time at which it is to leave; return that time."""
        at = (timing.deferral.until if timing.deferral else None) or send_at or self.now
        insort(self._attempts[account_id, phone], at)
        self._taken.append((message_id, account_id, phone, timing, at))
        return at

    async def write(self, connection: Connection) -> None:
        """Write the texts that count, and show the deferrals of those that wait."""
        if not self._taken:
            return
        ids, accounts_of, phones, _, times = (list(each) for each in zip(*self._taken, strict=True))
        await connection.execute(quiet_hours.COUNT, ids, accounts_of, phones, times)
        taken = ((id, timing.deferral, timing.place.zones) for id, _, _, timing, _ in self._taken if timing.deferral)
        await show(connection, taken)

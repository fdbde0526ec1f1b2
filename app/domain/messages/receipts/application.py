"""Apply a batch of receipts in one transaction: find and lock their messages, journal the receipts, write the changes.

The statements are SQL text on asyncpg, because every receipt is processed here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum, auto
from typing import Any, NamedTuple

from app.db.engine import Connection, Pool
from app.db.rows import fetch, integers, texts, unless_all
from app.domain.accounts import sql as accounts
from app.domain.billing import sql as billing
from app.domain.carriers.carrier import Receipt, ReceiptStatus
from app.domain.contacts import sql as contacts
from app.domain.events import outbox
from app.domain.events.outbox import Recorded
from app.domain.messages import retries
from app.domain.messages.models import MessageStatus
from app.domain.messages.receipts import carrier_ids
from app.domain.messages.reports import HeldMessage, ReportedMessage
from app.domain.messages.retries import Retry

LOCK_TIMEOUT = "5s"
"""The lock timeout of a batch that waits for locks."""

FIND = """
SELECT coalesce(n.message_id, m.id) AS message_id, m.account_id, coalesce(n.part, 1) AS part,
  coalesce(n.parts, 1) AS parts, n.message_id IS NULL AND m.status = 'pending' AS is_in_call
FROM unnest($1::text::text[], $2::text::text[], $3::text::bigint[]) WITH ORDINALITY AS r(carrier, id, reference, place)
LEFT JOIN LATERAL (
  SELECT * FROM carrier_ids WHERE carrier = r.carrier AND provider_message_id = r.id AND direction = 'outbound' LIMIT 1
) n ON true
LEFT JOIN LATERAL (SELECT * FROM messages WHERE id = coalesce(n.message_id, r.reference) LIMIT 1) m
  ON n.message_id IS NOT NULL
    OR (m.carrier = r.carrier AND m.direction = 'outbound' AND m.provider_message_id IS NULL)
ORDER BY r.place
"""

TAKE = """
WITH held AS (
  SELECT m.id, m.account_id, m.contact_id, m.carrier, m.from_number, m.to_number, m.body, m.status, m.segments,
    m.credits, m.cost, m.provider_message_id, m.carrier_status, m.carrier_error, m.error_code, m.unconfirmed,
    m.sent_at, m.delivered_at, m.carrier_segments, c.first_name, c.last_name
  FROM messages m {join}, set_config('lock_timeout', $2, true)
  WHERE m.id = ANY($1::bigint[]) ORDER BY m.id FOR NO KEY UPDATE OF m{skip}
), journaled AS (
  INSERT INTO receipts (message_id, provider_message_id, status, raw_status, error_code, carrier_error, part)
  SELECT r.* FROM unnest($3::text::bigint[], $4::text::text[], $5::text::text[], $6::text::text[], $7::text[],
    $8::text::text[], $9::text::bigint[])
    AS r(message_id, provider_message_id, status, raw_status, error_code, carrier_error, part)
  JOIN held ON held.id = r.message_id
  ON CONFLICT DO NOTHING
  RETURNING message_id, provider_message_id AS reported_id, raw_status, carrier_error AS reported_error, part
)
SELECT held.*, reported_id, raw_status, reported_error, part FROM held LEFT JOIN journaled ON message_id = id
"""
WAIT = TAKE.format(join=contacts.join("m.contact_id"), skip="")
SKIP = TAKE.format(join=contacts.join("m.contact_id"), skip=" SKIP LOCKED")

# The array of ids has the messages found by it; a plan of a time with few messages would read all of them.
WRITE = f"""
WITH reported AS (
  SELECT * FROM unnest($1::bigint[], $2::text::text[], $3::text::text[], $4::text::text[], $5::text::text[],
    $6::text::text[], $7::text[], $8::boolean[], $9::timestamptz[], $10::timestamptz[], $11::boolean[],
    $12::text::numeric[], $13::bigint[], $14::numeric[], $15::text[])
    AS r(id, was, status, provider_message_id, carrier_status, carrier_error, error_code, unconfirmed, sent_at,
      delivered_at, is_newly_named, cost, carrier_segments, charge, currency)
), named AS ({
    carrier_ids.insert(
        "SELECT carrier, r.provider_message_id, id AS message_id FROM reported r JOIN messages m USING (id)"
        " WHERE is_newly_named AND m.id = ANY($1::bigint[])"
    )
})
UPDATE messages m SET status = r.status, provider_message_id = r.provider_message_id,
  carrier_status = r.carrier_status, carrier_error = r.carrier_error, error_code = r.error_code,
  cost = r.cost, unconfirmed = r.unconfirmed,
  sent_at = r.sent_at, delivered_at = r.delivered_at,
  failed_at = CASE WHEN r.status = 'failed' AND r.was <> 'failed' THEN $16 ELSE m.failed_at END,
  carrier_segments = r.carrier_segments,
  carrier_charge = coalesce(r.charge, m.carrier_charge), carrier_currency = coalesce(r.currency, m.carrier_currency)
FROM reported r WHERE m.id = r.id AND m.id = ANY($1::bigint[]) AND m.status = r.was
"""

COUNT_DELIVERED = """
SELECT message_id, count(DISTINCT part) AS parts FROM receipts
WHERE message_id = ANY($1::bigint[]) AND status = 'delivered' GROUP BY message_id
"""

REFUNDS = """
  SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[])
    AS f(account_id, message_id, credits, balance_after, reason, actor)
"""
REFUND = f"""
WITH refunded AS ({billing.refund_messages(REFUNDS)})
{accounts.SET_BALANCES.format(rows="unnest($7::bigint[], $8::bigint[])")}
"""

CONTRADICT = """
UPDATE receipts t SET contradicts = true
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[])
  AS r(message_id, provider_message_id, raw_status, carrier_error, part)
WHERE t.message_id = r.message_id AND t.provider_message_id = r.provider_message_id AND t.raw_status = r.raw_status
  AND t.carrier_error = r.carrier_error AND t.part = r.part
"""

DELETE_UNMATCHED = "DELETE FROM unmatched_receipts WHERE id = ANY($1::bigint[])"


class FoundMessage(NamedTuple):
    """The message of a report, if it is known: `is_in_call` while the carrier has not answered the call for it."""

    message_id: int | None
    account_id: int | None
    part: int
    parts: int
    is_in_call: bool | None


@dataclass(frozen=True, slots=True)
class Report:
    """A receipt of a carrier. `unmatched_id` is its row in `unmatched_receipts`, if it has one.

    `parts` is the number of parts of its message that the carrier reports on one by one.
    """

    carrier: str
    receipt: Receipt
    unmatched_id: int | None = None
    parts: int = 1

    @property
    def identity(self) -> tuple[str, str, str, int]:
        """Return the values that distinguish it from other receipts of the same message."""
        receipt = self.receipt
        return (receipt.provider_message_id, receipt.raw_status, receipt.carrier_error, receipt.part)

    @property
    def passing(self) -> str | None:
        """Return the cause of a failure that passes, after which the text is tried again; None for any other report."""
        has_failed = self.receipt.status is ReceiptStatus.failed and self.parts == 1
        return self.receipt.code if has_failed and self.receipt.code in retries.RULES else None

    def of_part(self, part: int, parts: int) -> "Report":
        """Return the report on a part of a message; the carrier's id says which part it is."""
        return self if parts == 1 else replace(self, receipt=replace(self.receipt, part=part), parts=parts)

    def of_whole(self, delivered: int) -> Receipt:
        """Return the receipt of the whole message, of which a number of parts are delivered."""
        is_partial = self.receipt.status is ReceiptStatus.delivered and delivered < self.parts
        return replace(self.receipt, status=ReceiptStatus.sent) if is_partial else self.receipt


Known = tuple[int | None, int | None, Report]
"""The message and the account of a report, and the report."""


class ReceiptResult(Enum):
    """The result of a receipt: applied, now or before; dropped with its message; unmatched with an unknown message."""

    applied = auto()
    dropped = auto()
    unmatched = auto()


@dataclass(frozen=True, slots=True)
class Locked:
    """The receipt was not applied: another transaction has locked its message, or the balance of its account."""

    account_id: int


@dataclass(slots=True)
class Application:
    """Receipts that are applied in one transaction; each has its own result.

    All transactions lock in the order account, message, carrier id. Unless the batch `waits`, it skips receipts whose
    message or balance another transaction has locked. Refunds are those of `actor`, by default of the carrier.
    """

    reports: Sequence[Report]
    now: datetime
    waits: bool = False
    has_matched: bool = False
    actor: str | None = None
    messages: dict[int, ReportedMessage] = field(default_factory=dict)
    balances: dict[int, int] = field(default_factory=dict)
    _retried: dict[int, tuple[Retry, str]] = field(default_factory=dict)

    @property
    def has_events(self) -> bool:
        """Return whether events were recorded."""
        return any(message.events for message in self.messages.values())

    async def run(self, connection: Connection) -> list[ReceiptResult | Locked]:
        """Apply the receipts in their order, on a connection with an open transaction."""
        found = await find_messages(connection, self.reports)
        known = [_known(row, report) for row, report in zip(found, self.reports, strict=True)]
        locked = await self._lock_balances(connection, known)
        unlocked = [(id, report) for id, account_id, report in known if id and account_id and id not in locked]
        if unlocked:
            await self._apply(connection, unlocked)
            await self.write(connection)
            if self._retried:
                await retries.requeue(connection, self._retried)
        results = [self._result(id, account_id) for id, account_id, _ in known]
        await self._delete_unmatched(connection, results)
        return results

    async def _lock_balances(self, connection: Connection, known: Sequence[Known]) -> set[int]:
        """Lock the balances of failed messages; return the messages whose balance another transaction has locked."""
        failed = {
            id: account
            for id, account, report in known
            if id and account and report.receipt.status is ReceiptStatus.failed
        }
        if not failed:
            return set()
        lock = accounts.LOCK if self.waits else accounts.LOCK_FREE
        rows = await connection.fetch(lock, list(set(failed.values())), LOCK_TIMEOUT)
        self.balances = {row["id"]: row["balance"] for row in rows}
        return {id for id, account_id in failed.items() if account_id not in self.balances}

    async def _apply(self, connection: Connection, unlocked: Sequence[tuple[int, Report]]) -> None:
        """Lock the messages, journal the receipts, and apply the new ones."""
        rows = await fetch(
            connection,
            HeldMessage,
            WAIT if self.waits else SKIP,
            list({id for id, _ in unlocked}),
            LOCK_TIMEOUT,
            *columns_of(unlocked),
        )
        self.messages = {row.id: ReportedMessage(row) for row in rows}
        new = {(row.id, row.reported_id, row.raw_status, row.reported_error, row.part) for row in rows}
        delivered = await _count_delivered(connection, unlocked)
        retried = await self._find_retries(connection, unlocked)
        contradictions: list[Any] = []
        for id, report in unlocked:
            identity = (id, *report.identity)
            if identity in new:
                new.remove(identity)
                if report.passing and id in retried:
                    self._put_off(id, report.receipt, retried[id])
                elif not self.messages[id].apply(report.of_whole(delivered.get(id, 1)), self.now):
                    contradictions.append(identity)
        if contradictions:
            await connection.execute(CONTRADICT, *zip(*contradictions, strict=True))

    async def _find_retries(self, connection: Connection, unlocked: Sequence[tuple[int, Report]]) -> dict[int, Retry]:
        """Return the next attempts of sent messages that a report says to have failed for a cause that passes."""
        sent = {id for id, message in self.messages.items() if message.status == MessageStatus.sent}
        refused = {id: report.passing for id, report in unlocked if report.passing and id in sent}
        return await retries.find(connection, refused, self.now)

    def _put_off(self, id: int, receipt: Receipt, retry: Retry) -> None:
        message = self.messages[id]
        if message.status == MessageStatus.sent:
            self._retried[id] = retry, message.provider_message_id or receipt.provider_message_id
            message.put_off(receipt)

    async def write(self, connection: Connection) -> None:
        """Write the messages that have changed, with their refunds and events."""
        changed = [message for message in self.messages.values() if message.has_changed]
        if not changed:
            return
        await connection.execute(
            WRITE,
            [message.row.id for message in changed],
            texts(message.row.status for message in changed),
            texts(message.status for message in changed),
            texts(message.provider_message_id for message in changed),
            texts(message.carrier_status for message in changed),
            texts(message.carrier_error for message in changed),
            unless_all([message.error_code for message in changed], None),
            [message.unconfirmed for message in changed],
            [message.sent_at for message in changed],
            unless_all([message.delivered_at for message in changed], None),
            [message.is_newly_named for message in changed],
            texts(str(message.cost) for message in changed),
            unless_all([message.carrier_segments for message in changed], None),
            unless_all([message.charge and message.charge.amount for message in changed], None),
            unless_all([message.charge and message.charge.currency for message in changed], None),
            self.now,
        )
        named = [message.given_id for message in changed if message.is_newly_named]
        self.has_matched = await carrier_ids.match(connection, named)
        await self._refund(connection, [message for message in changed if message.refund])
        await self._record_events(connection)

    async def _refund(self, connection: Connection, failed: Sequence[ReportedMessage]) -> None:
        """Refund failed messages; each ledger entry has the balance after it."""
        if not failed:
            return
        balances_after: list[int] = []
        for message in failed:
            self.balances[message.row.account_id] += message.refund
            balances_after.append(self.balances[message.row.account_id])
        await connection.execute(
            REFUND,
            [message.row.account_id for message in failed],
            [message.row.id for message in failed],
            [message.refund for message in failed],
            balances_after,
            [message.error_code for message in failed],
            [self.actor or f"carrier:{message.row.carrier}" for message in failed],
            list(self.balances),
            list(self.balances.values()),
        )

    async def _record_events(self, connection: Connection) -> None:
        recorded = [
            Recorded(message.row.account_id, event, message.row.contact_id)
            for message in self.messages.values()
            for event in message.events
        ]
        await outbox.record_all(connection, recorded)

    def _result(self, message_id: int | None, account_id: int | None) -> ReceiptResult | Locked:
        if message_id is None:
            return ReceiptResult.unmatched
        if message_id in self.messages:
            return ReceiptResult.applied
        return ReceiptResult.dropped if account_id is None or self.waits else Locked(account_id)

    async def _delete_unmatched(self, connection: Connection, results: Sequence[ReceiptResult | Locked]) -> None:
        """Delete unmatched receipts that are applied now, or whose message was deleted."""
        settled = zip(self.reports, results, strict=True)
        ids = [
            report.unmatched_id for report, result in settled if report.unmatched_id and not isinstance(result, Locked)
        ]
        if ids:
            await connection.execute(DELETE_UNMATCHED, ids)


def _known(row: FoundMessage, report: Report) -> Known:
    """Return the message and the account of a report; none where the report must wait for the answer of the carrier.

    A text that is tried again needs the end of the call to which the report refers.
    """
    if row.is_in_call and report.passing:
        return None, None, report
    return row.message_id, row.account_id, report.of_part(row.part, row.parts)


async def find_messages(source: Connection | Pool, reports: Sequence[Report]) -> Sequence[FoundMessage]:
    """Return the message of each report."""
    return await fetch(
        source,
        FoundMessage,
        FIND,
        texts(report.carrier for report in reports),
        texts(report.receipt.provider_message_id for report in reports),
        integers(report.receipt.reference for report in reports),
    )


def columns_of(reports: Sequence[tuple[int, Report]]) -> Sequence[object]:
    """Return the columns of `WAIT` and `SKIP` from `$3`, for reports with the ids of their messages."""
    receipts = [report.receipt for _, report in reports]
    return (
        integers(id for id, _ in reports),
        texts(receipt.provider_message_id for receipt in receipts),
        texts(receipt.status.value for receipt in receipts),
        texts(receipt.raw_status for receipt in receipts),
        unless_all([receipt.code for receipt in receipts], None),
        texts(receipt.carrier_error for receipt in receipts),
        integers(receipt.part for receipt in receipts),
    )


async def _count_delivered(connection: Connection, reports: Sequence[tuple[int, Report]]) -> dict[int, int]:
    """Return how many parts of the messages with several are delivered, after their receipts were journaled."""
    several = [id for id, report in reports if report.parts > 1]
    rows = await connection.fetch(COUNT_DELIVERED, several) if several else []
    return {row["message_id"]: row["parts"] for row in rows}

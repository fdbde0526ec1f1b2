"""Apply a batch of carriers' reports in one transaction: find their messages, lock, journal, write what changes.

The statements are SQL text on asyncpg because every report takes this path.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, auto
from typing import Any

from app.db.engine import Connection
from app.domain.accounts import sql as accounts
from app.domain.billing import sql as billing
from app.domain.contacts import sql as contacts
from app.domain.events import sql as events
from app.domain.messages import carrier_ids
from app.domain.messages.carrier import Receipt, ReceiptStatus
from app.domain.messages.reports import ReportedMessage

PATIENCE = "5s"
"""How long a statement waits for a lock where the batch waits."""

FIND = """
SELECT coalesce(n.message_id, m.id) AS message_id, m.account_id
FROM unnest($1::text[], $2::text[], $3::bigint[]) WITH ORDINALITY AS r(carrier, id, reference, place)
LEFT JOIN carrier_ids n ON n.carrier = r.carrier AND n.provider_message_id = r.id AND n.direction = 'outbound'
LEFT JOIN messages m ON m.id = coalesce(n.message_id, r.reference) AND (n.message_id IS NOT NULL
  OR (m.carrier = r.carrier AND m.direction = 'outbound' AND m.provider_message_id IS NULL))
ORDER BY r.place
"""

TAKE = """
WITH held AS (
  SELECT m.id, m.account_id, m.contact_id, m.carrier, m.from_number, m.to_number, m.body, m.status, m.segments,
    m.credits, m.cost, m.provider_message_id, m.carrier_status, m.carrier_error, m.error_code, m.unconfirmed,
    m.sent_at, m.delivered_at, c.first_name, c.last_name
  FROM messages m {join}, set_config('lock_timeout', $2, true)
  WHERE m.id = ANY($1::bigint[]) ORDER BY m.id FOR NO KEY UPDATE OF m{skip}
), journaled AS (
  INSERT INTO receipts (message_id, provider_message_id, status, raw_status, error_code, carrier_error, part)
  SELECT r.* FROM unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[])
    AS r(message_id, provider_message_id, status, raw_status, error_code, carrier_error, part)
  JOIN held ON held.id = r.message_id
  ON CONFLICT DO NOTHING
  RETURNING message_id, provider_message_id AS said_id, raw_status, carrier_error AS said_error, part
)
SELECT held.*, said_id, raw_status, said_error, part FROM held LEFT JOIN journaled ON message_id = id
"""
WAIT = TAKE.format(join=contacts.join("m.contact_id"), skip="")
SKIP = TAKE.format(join=contacts.join("m.contact_id"), skip=" SKIP LOCKED")

WRITE = f"""
WITH reported AS (
  SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
    $8::boolean[], $9::timestamptz[], $10::timestamptz[], $11::boolean[])
    AS r(id, was, status, provider_message_id, carrier_status, carrier_error, error_code, unconfirmed, sent_at,
      delivered_at, is_newly_named)
), named AS ({
    carrier_ids.give(
        "SELECT carrier, r.provider_message_id, id AS message_id FROM reported r JOIN messages m USING (id)"
        " WHERE is_newly_named"
    )
})
UPDATE messages m SET status = r.status, provider_message_id = r.provider_message_id,
  carrier_status = r.carrier_status, carrier_error = r.carrier_error, error_code = r.error_code,
  cost = CASE r.status WHEN 'failed' THEN 0 ELSE m.cost END, unconfirmed = r.unconfirmed,
  sent_at = r.sent_at, delivered_at = r.delivered_at
FROM reported r WHERE m.id = r.id AND m.status = r.was
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

FORGET_UNMATCHED = "DELETE FROM unmatched_receipts WHERE id = ANY($1::bigint[])"


@dataclass(frozen=True, slots=True)
class Said:
    """A report of a carrier's. `unmatched_id` is its row, where it came before its message was known."""

    carrier: str
    receipt: Receipt
    unmatched_id: int | None = None

    @property
    def words(self) -> tuple[str, str, str, int]:
        """Return what tells it from other reports on the same message."""
        receipt = self.receipt
        return (receipt.provider_message_id, receipt.raw_status, receipt.carrier_error, receipt.part)


class Fate(Enum):
    """What became of a report: applied, now or before; dropped with its message; or on no message that is known."""

    applied = auto()
    dropped = auto()
    unmatched = auto()


@dataclass(frozen=True, slots=True)
class Held:
    """The report was not applied, since another transaction has locked its message, or the balance of its account."""

    account_id: int


@dataclass(slots=True)
class Application:
    """Reports that are applied in one transaction; each gets a fate of its own.

    All transactions lock in the order account, message, carrier id. Unless the batch `waits`, reports on what another
    transaction has locked are left alone.
    """

    reports: Sequence[Said]
    now: datetime
    waits: bool = False
    has_matched: bool = False
    messages: dict[int, ReportedMessage] = field(default_factory=dict[int, ReportedMessage])
    balances: dict[int, int] = field(default_factory=dict[int, int])

    @property
    def has_events(self) -> bool:
        """Tell whether anything happened that is told."""
        return any(message.events for message in self.messages.values())

    async def run(self, connection: Connection) -> list[Fate | Held]:
        """Apply every report that can be, in their order, on a connection with a transaction open."""
        found = await connection.fetch(
            FIND,
            [said.carrier for said in self.reports],
            [said.receipt.provider_message_id for said in self.reports],
            [said.receipt.reference for said in self.reports],
        )
        known = [(row["message_id"], row["account_id"], said) for row, said in zip(found, self.reports, strict=True)]
        locked = await self._lock_balances(connection, known)
        takeable = [(id, said) for id, account_id, said in known if account_id and id not in locked]
        if takeable:
            await self._apply(connection, takeable)
            await self._write(connection)
        fates = [self._fate(id, account_id) for id, account_id, _ in known]
        await self._forget_unmatched(connection, fates)
        return fates

    async def _lock_balances(self, connection: Connection, known: Sequence[tuple[int, int, Said]]) -> set[int]:
        """Lock the balances of failed messages; return the messages whose balance another transaction has locked."""
        failed = {id: account for id, account, said in known if account and said.receipt.status is ReceiptStatus.failed}
        if not failed:
            return set()
        lock = accounts.LOCK if self.waits else accounts.LOCK_FREE
        rows = await connection.fetch(lock, list(set(failed.values())), PATIENCE)
        self.balances = {row["id"]: row["balance"] for row in rows}
        return {id for id, account_id in failed.items() if account_id not in self.balances}

    async def _apply(self, connection: Connection, takeable: Sequence[tuple[int, Said]]) -> None:
        """Lock the messages, journal the reports, and apply those that are new."""
        rows = await connection.fetch(
            WAIT if self.waits else SKIP,
            list({id for id, _ in takeable}),
            PATIENCE,
            [id for id, _ in takeable],
            [said.receipt.provider_message_id for _, said in takeable],
            [said.receipt.status.value for _, said in takeable],
            [said.receipt.raw_status for _, said in takeable],
            [said.receipt.code for _, said in takeable],
            [said.receipt.carrier_error for _, said in takeable],
            [said.receipt.part for _, said in takeable],
        )
        self.messages = {row["id"]: ReportedMessage(row) for row in rows}
        new = {(row["id"], row["said_id"], row["raw_status"], row["said_error"], row["part"]) for row in rows}
        contradictions: list[Any] = []
        for id, said in takeable:
            words = (id, *said.words)
            if words in new:
                new.remove(words)
                if not self.messages[id].apply(said.receipt, self.now):
                    contradictions.append(words)
        if contradictions:
            await connection.execute(CONTRADICT, *zip(*contradictions, strict=True))

    async def _write(self, connection: Connection) -> None:
        changed = [message for message in self.messages.values() if message.has_changed]
        if not changed:
            return
        await connection.execute(
            WRITE,
            [message.row["id"] for message in changed],
            [message.row["status"] for message in changed],
            [message.status for message in changed],
            [message.provider_message_id for message in changed],
            [message.carrier_status for message in changed],
            [message.carrier_error for message in changed],
            [message.error_code for message in changed],
            [message.unconfirmed for message in changed],
            [message.sent_at for message in changed],
            [message.delivered_at for message in changed],
            [message.is_newly_named for message in changed],
        )
        named = [message.given_id for message in changed if message.is_newly_named]
        self.has_matched = await carrier_ids.match(connection, named)
        await self._refund(connection, [message for message in changed if message.refund])
        await self._tell(connection)

    async def _refund(self, connection: Connection, failed: Sequence[ReportedMessage]) -> None:
        """Give back what failed messages cost; each entry says what it left of its account's balance."""
        if not failed:
            return
        left: list[int] = []
        for message in failed:
            self.balances[message.row["account_id"]] += message.refund
            left.append(self.balances[message.row["account_id"]])
        await connection.execute(
            REFUND,
            [message.row["account_id"] for message in failed],
            [message.row["id"] for message in failed],
            [message.refund for message in failed],
            left,
            [message.error_code for message in failed],
            [f"carrier:{message.row['carrier']}" for message in failed],
            list(self.balances),
            list(self.balances.values()),
        )

    async def _tell(self, connection: Connection) -> None:
        told = [(message.row, event) for message in self.messages.values() for event in message.events]
        if told:
            await connection.execute(
                events.INSERT,
                [row["account_id"] for row, _ in told],
                [event.name for _, event in told],
                [row["contact_id"] for row, _ in told],
                [event.payload() for _, event in told],
                [None] * len(told),
            )

    def _fate(self, message_id: int | None, account_id: int | None) -> Fate | Held:
        if message_id is None:
            return Fate.unmatched
        if message_id in self.messages:
            return Fate.applied
        return Fate.dropped if account_id is None or self.waits else Held(account_id)

    async def _forget_unmatched(self, connection: Connection, fates: Sequence[Fate | Held]) -> None:
        """Delete what had come before its message was known, once it is applied or its message is gone."""
        settled = zip(self.reports, fates, strict=True)
        ids = [said.unmatched_id for said, fate in settled if said.unmatched_id and not isinstance(fate, Held)]
        if ids:
            await connection.execute(FORGET_UNMATCHED, ids)

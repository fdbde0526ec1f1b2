"""Receives carriers' receipts: journals and applies them in batches, in any order and any number of times.

Receipts that arrive while a batch is applied form the next batch. A batch does not wait for locks: a receipt whose
message or balance another transaction has locked waits in a queue of its account, and does not delay other accounts.
"""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import NamedTuple

from app.db.engine import CONTENDED, PLAN_ONCE, UNREACHABLE, Database, transaction
from app.db.rows import fetch
from app.domain.carriers.carrier import Charge, FailureCode, Receipt, ReceiptStatus
from app.domain.carriers.health import Health
from app.domain.kernel.account_queues import AccountQueues
from app.domain.kernel.clock import Clock
from app.domain.kernel.micro_batcher import MicroBatcher, serve_parts
from app.domain.kernel.unit_of_work import Actor, Notify, open_unit
from app.domain.messages import outcome
from app.domain.messages.receipts import carrier_ids
from app.domain.messages.receipts.application import Application, Locked, ReceiptResult, Report, find_messages

UNMATCHED_FOR = timedelta(hours=24)
"""The time that a receipt is stored without a matching message."""

MAX_BATCH = 128
MATCHED = 100
"""The number of matched receipts that are applied at once."""

WAITING = 4
"""The default number of account queues that wait for locks at once; each uses a connection."""

STORE_UNMATCHED = """
INSERT INTO unmatched_receipts (carrier, provider_message_id, status, raw_status, error_code, carrier_error, part,
  carrier_segments, carrier_charge, carrier_currency)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT DO NOTHING
"""

FIND_MATCHED = f"""
SELECT id, carrier, provider_message_id, status, raw_status, error_code, carrier_error, part, carrier_segments,
  carrier_charge, carrier_currency
FROM unmatched_receipts WHERE message_id IS NOT NULL ORDER BY id LIMIT {MATCHED}
"""
IS_MATCHED = "SELECT EXISTS (SELECT FROM unmatched_receipts WHERE message_id IS NOT NULL)"

Verdict = ReceiptResult | Locked | Exception


class MatchedReceipt(NamedTuple):
    """A stored receipt whose message is known now."""

    id: int
    carrier: str
    provider_message_id: str
    status: str
    raw_status: str
    error_code: str | None
    carrier_error: str
    part: int
    carrier_segments: int | None
    carrier_charge: Decimal | None
    carrier_currency: str | None


class Receipts:
    """Receives and applies the receipts of all carriers.

    A process applies one batch at a time, and one in each account's queue. The queues use at most `waiting`
    connections; the pool must have more.
    """

    def __init__(
        self, database: Database, clock: Clock, notify: Notify, health: Health, waiting: int = WAITING
    ) -> None:
        self._database = database
        self._health = health
        self._clock = clock
        self._notify = notify
        self._line: MicroBatcher[Report, Verdict] = MicroBatcher(partial(self._serve, waits=False), MAX_BATCH)
        self._queues: AccountQueues[Report, Verdict]
        self._queues = AccountQueues(partial(self._serve, waits=True), MAX_BATCH, waiting)

    async def receive(self, carrier: str, receipt: Receipt) -> None:
        """Journal a receipt and apply it, or store it as unmatched while its message is unknown. Idempotent.

        Returns after the commit. A receipt of a message that is being erased is dropped.
        """
        report = Report(carrier, receipt)
        while await self._apply(report) is ReceiptResult.unmatched and not await self._store_unmatched(report):
            pass

    async def match(self) -> bool:
        """Apply unmatched receipts that were matched since; return True if there were any."""
        rows = await fetch(self._database.pool, MatchedReceipt, FIND_MATCHED)
        await asyncio.gather(*(self._apply(Report(row.carrier, _receipt(row), row.id)) for row in rows))
        return bool(rows)

    async def due(self) -> bool:
        """Return whether a matched receipt is not applied yet."""
        return await self._database.pool.ask(IS_MATCHED)

    async def close(self) -> None:
        """Wait until every received receipt is applied."""
        await self._line.close()
        await self._queues.close()

    async def _apply(self, report: Report) -> ReceiptResult:
        if report.receipt.code is FailureCode.opted_out:
            await self._record_opt_out(report)
        verdict = await self._line(report)
        if isinstance(verdict, Locked):
            verdict = await self._queues(verdict.account_id, report)
        assert not isinstance(verdict, Locked), "a batch that waits for locks gets them, or raises"
        if isinstance(verdict, Exception):
            raise verdict
        if verdict is ReceiptResult.applied:
            self._health.note_receipt(report.carrier, report.receipt)
        return verdict

    async def _serve(self, reports: Sequence[Report], *, waits: bool) -> Sequence[Verdict]:
        """Apply receipts; if the batch fails, apply each alone, so that only the faulty ones fail."""
        application = Application(reports, self._clock.now(), waits)
        try:
            async with transaction(self._database.pool, PLAN_ONCE) as connection:
                results = await application.run(connection)
        except Exception as cause:
            is_unreachable = isinstance(cause, UNREACHABLE) and not isinstance(cause, CONTENDED)
            if len(reports) == 1 or is_unreachable:
                return [cause] * len(reports)
            return await serve_parts(partial(self._serve, waits=waits), reports, range(len(reports)))
        if application.has_events:
            self._notify("events")
        if application.has_matched:
            self._notify("receipts")
        return results

    async def _store_unmatched(self, report: Report) -> bool:
        """Store a receipt until its message is known; return False if a message has its id by now."""
        ids = [report.carrier], [report.receipt.provider_message_id]
        async with self._database.pool.acquire() as connection, connection.transaction():
            if not await connection.fetch(carrier_ids.RESERVE, *ids):
                return False
            await connection.execute(STORE_UNMATCHED, report.carrier, *_columns(report.receipt))
            await connection.execute(carrier_ids.RELEASE, *ids)
        return True

    async def _record_opt_out(self, report: Report) -> None:
        """Record an opt-out that the carrier reports, before the receipt is applied, so that none is lost."""
        [found] = await find_messages(self._database.pool, [report])
        if found.account_id and found.message_id:
            actor = Actor(found.account_id, frozenset(), f"carrier:{report.carrier}")
            async with open_unit(self._database.sessions, actor, self._clock, self._notify) as unit:
                await outcome.opt_out(unit, found.message_id)


def _columns(receipt: Receipt) -> Sequence[object]:
    return (
        receipt.provider_message_id,
        receipt.status.value,
        receipt.raw_status,
        receipt.code,
        receipt.carrier_error,
        receipt.part,
        receipt.parts,
        receipt.charge and receipt.charge.amount,
        receipt.charge and receipt.charge.currency,
    )


def _receipt(row: MatchedReceipt) -> Receipt:
    amount, currency = row.carrier_charge, row.carrier_currency
    charge = None if amount is None or currency is None else Charge(amount, currency)
    return Receipt(
        provider_message_id=row.provider_message_id,
        status=ReceiptStatus(row.status),
        raw_status=row.raw_status,
        code=FailureCode(row.error_code) if row.error_code else None,
        carrier_error=row.carrier_error,
        part=row.part,
        parts=row.carrier_segments,
        charge=charge,
    )

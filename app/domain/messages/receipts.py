"""Carriers' reports: journaled first, then applied, in any order and any number of times."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import select, update
from sqlalchemy.dialects.postgresql import insert

from app.db.engine import Pool, Sessions
from app.domain.billing import service as billing
from app.domain.kernel.clock import Clock
from app.domain.kernel.unit_of_work import Actor, Notify, UnitOfWork, open_unit
from app.domain.messages import outcome
from app.domain.messages.carrier import FailureCode, Receipt, ReceiptStatus
from app.domain.messages.models import Message, ReceiptRow
from app.domain.messages.outcome import Report

UNMATCHED_FOR = timedelta(hours=24)
"""How long a report waits for its message."""

FIND_MESSAGE = """
SELECT id, account_id FROM messages
WHERE direction = 'outbound' AND carrier = $1
  AND (provider_message_id = $2 OR (id = $3 AND provider_message_id IS NULL))
ORDER BY provider_message_id LIMIT 1
"""

PARK = """
INSERT INTO receipts (carrier, provider_message_id, status, raw_status, error_code, carrier_error, part)
VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING
"""

FIND_PARKED = """
SELECT r.id, r.carrier, r.provider_message_id, r.status, r.raw_status, r.error_code, r.carrier_error, r.part,
  m.id AS message_id, m.account_id
FROM receipts r JOIN messages m ON m.carrier = r.carrier AND m.provider_message_id = r.provider_message_id
  AND m.direction = 'outbound'
WHERE r.message_id IS NULL ORDER BY r.id LIMIT 100
"""


@dataclass(frozen=True, slots=True)
class Receipts:
    """The reports of all carriers, on their way to the messages they are about."""

    sessions: Sessions
    pool: Pool
    clock: Clock
    notify: Notify

    async def receive(self, carrier: str, receipt: Receipt) -> None:
        """Journal a report and apply it; park it where its message is not known yet. Again changes nothing.

        A report on a message that is erased at this moment is dropped.
        """
        found = await self.pool.fetchrow(FIND_MESSAGE, carrier, receipt.provider_message_id, receipt.reference)
        if found is None:
            await self.pool.execute(PARK, *_row(carrier, receipt).values())
            self.notify("receipts")
            return
        async with self._unit(carrier, found["account_id"]) as unit:
            if not await _hold(unit, found["id"], receipt):
                return
            row = {**_row(carrier, receipt), "message_id": found["id"]}
            journaled = insert(ReceiptRow).values(row).on_conflict_do_nothing().returning(ReceiptRow.id)
            id = (await unit.execute(journaled)).scalar_one_or_none()
            if id is not None:
                await _apply(unit, id, found["id"], receipt)

    async def match(self) -> bool:
        """Apply parked reports whose messages are known by now; return True when there were any."""
        parked = await self.pool.fetch(FIND_PARKED)
        for row in parked:
            async with self._unit(row["carrier"], row["account_id"]) as unit:
                if not await _hold(unit, row["message_id"], _receipt(row)):
                    continue
                taken = update(ReceiptRow).where(ReceiptRow.id == row["id"], ReceiptRow.message_id.is_(None))
                result = await unit.execute(taken.values(message_id=row["message_id"]).returning(ReceiptRow.id))
                if result.scalar_one_or_none() is not None:
                    await _apply(unit, row["id"], row["message_id"], _receipt(row))
        return bool(parked)

    async def due(self) -> bool:
        """Tell whether a parked report has found its message."""
        return bool(await self.pool.fetch(FIND_PARKED))

    def _unit(self, carrier: str, account_id: int) -> Any:
        actor = Actor(account_id, frozenset(), f"carrier:{carrier}")
        return open_unit(self.sessions, actor, self.clock, self.notify)


def _row(carrier: str, receipt: Receipt) -> dict[str, Any]:
    return {
        "carrier": carrier,
        "provider_message_id": receipt.provider_message_id,
        "status": receipt.status.value,
        "raw_status": receipt.raw_status,
        "error_code": receipt.code,
        "carrier_error": receipt.carrier_error,
        "part": receipt.part,
    }


def _receipt(row: Any) -> Receipt:
    return Receipt(
        provider_message_id=row["provider_message_id"],
        status=ReceiptStatus(row["status"]),
        raw_status=row["raw_status"],
        code=FailureCode(row["error_code"]) if row["error_code"] else None,
        carrier_error=row["carrier_error"],
        part=row["part"],
    )


async def _hold(unit: UnitOfWork, message_id: int, receipt: Receipt) -> bool:
    """Lock the message of a report until the unit ends, so that it is not erased meanwhile; False where it was.

    A failure changes the balance, which is locked first, as in an erasure.
    """
    if receipt.status is ReceiptStatus.failed:
        await billing.lock(unit)
    own = select(Message.id).where(Message.account_id == unit.actor.account_id, Message.id == message_id)
    return await unit.one(own.with_for_update(key_share=True)) is not None


async def _apply(unit: UnitOfWork, id: int, message_id: int, receipt: Receipt) -> None:
    """Apply a report by the table of legal changes; one that contradicts the final state is marked so."""
    report = Report(receipt.provider_message_id, receipt.raw_status, receipt.carrier_error or None)
    match receipt.status:
        case ReceiptStatus.delivered:
            changed = await outcome.deliver(unit, message_id, report)
        case ReceiptStatus.failed:
            changed = await outcome.fail(unit, message_id, receipt.code or FailureCode.carrier_error, report)
        case ReceiptStatus.sent:
            await outcome.mark_sent(unit, message_id, report)
            return
        case ReceiptStatus.pending | ReceiptStatus.unconfirmed:  # pragma: no branch - no status is left
            unconfirmed = receipt.status is ReceiptStatus.unconfirmed
            await outcome.note(unit, message_id, report, unconfirmed=unconfirmed)
            return
    if not changed:
        final = select(Message.status).where(Message.id == message_id).scalar_subquery()
        contradiction = update(ReceiptRow).where(ReceiptRow.id == id, ReceiptRow.status != final)
        await unit.execute(contradiction.values(contradicts=True))

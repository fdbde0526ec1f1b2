"""Asks the payment provider about payments whose event has not come."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import update

from app.db.engine import Database
from app.db.rows import fetch
from app.domain.kernel.errors import DomainError, Unavailable
from app.domain.payments.models import Payment, PaymentStatus
from app.domain.payments.service import Payments

BATCH = 20
LONGEST = "7 days"
"""The time after its start in which the provider is asked about a payment."""

REPEATED = "1 day"
IS_LAST = f"p.created_at <= $1 - interval '{LONGEST}'"

# The waits double, because the first look is some time after the start. A look that has no answer is repeated, the last
# one each day.
CLAIM = f"""
WITH due AS (
  SELECT id FROM payments WHERE look_at <= $1 AND provider = $2 ORDER BY look_at, id LIMIT $3 FOR UPDATE SKIP LOCKED
)
UPDATE payments p SET look_at = $1 + CASE WHEN {IS_LAST} THEN interval '{REPEATED}' ELSE $1 - p.created_at END
FROM due WHERE p.id = due.id RETURNING p.id, p.account_id, p.provider_id AS reference, {IS_LAST} AS is_last
"""
IS_DUE = "SELECT EXISTS (SELECT FROM payments WHERE look_at <= $1 AND provider = $2)"


class DuePayment(NamedTuple):
    """A payment that the provider is asked about, by the id of its checkout; `is_last` after `LONGEST`."""

    id: int
    account_id: int
    reference: str
    is_last: bool


@dataclass(frozen=True, slots=True)
class Upkeep:
    """Settles pending payments by asking; safe to run concurrently and to die anywhere."""

    database: Database
    payments: Payments

    async def run(self) -> bool:
        """Ask about one batch; return True when more may be due. Payments without an answer are asked about later.

        What the provider refuses to answer is an answer too: it would refuse again.
        """
        facts = self._now(), self.payments.gateway.name, BATCH
        rows = await fetch(self.database.pool, DuePayment, CLAIM, *facts)
        for row in rows:
            try:
                await self._ask(row)
            except DomainError as error:
                facts = {"account_id": row.account_id, "payment_id": row.id, "reference": row.reference}
                self.payments.warn("payment_not_looked_up", **facts, reason=str(error))
                if row.is_last and not isinstance(error, Unavailable):
                    await self._end(row)
        return len(rows) == BATCH

    async def due(self) -> bool:
        """Return whether a payment is to be asked about."""
        return await self.database.pool.ask(IS_DUE, self._now(), self.payments.gateway.name)

    async def _ask(self, row: DuePayment) -> None:
        seen_at = await self.payments.read_time()
        found = await self.payments.gateway.find(row.reference)
        await self.payments.book(found.notice, seen_at)
        if found.is_over:
            await self._end(row, status=PaymentStatus.expired)
        elif row.is_last:
            await self._end(row)

    async def _end(self, row: DuePayment, **changes: PaymentStatus) -> None:
        """Ask no longer about a payment that is still pending."""
        async with self.payments.unit(row.account_id) as unit:
            own = Payment.id == row.id, Payment.status == PaymentStatus.pending
            await unit.execute(update(Payment).where(*own).values(look_at=None, **changes))

    def _now(self) -> datetime:
        return self.payments.clock.now()

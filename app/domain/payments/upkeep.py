"""Asks the payment provider about payments whose event has not come."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import update

from app.db.engine import Database
from app.db.rows import fetch
from app.domain.kernel.errors import DomainError
from app.domain.payments.models import Payment, PaymentStatus
from app.domain.payments.service import Payments

BATCH = 20
LONGEST = "7 days"
"""The time after its start in which the provider is asked about a payment."""

# The waits double, because the first look is some time after the start; the last one is that of an expired page.
CLAIM = f"""
WITH due AS (
  SELECT id FROM payments WHERE look_at <= $1 AND provider = $2 ORDER BY look_at, id LIMIT $3 FOR UPDATE SKIP LOCKED
)
UPDATE payments p SET look_at = CASE WHEN p.created_at > $1 - interval '{LONGEST}' THEN $1 + ($1 - p.created_at) END
FROM due WHERE p.id = due.id RETURNING p.id, p.account_id, p.provider_id AS reference
"""
IS_DUE = "SELECT EXISTS (SELECT FROM payments WHERE look_at <= $1 AND provider = $2)"


class DuePayment(NamedTuple):
    """A payment that the provider is asked about, by the id of its checkout."""

    id: int
    account_id: int
    reference: str


@dataclass(frozen=True, slots=True)
class Upkeep:
    """Settles pending payments by asking; safe to run concurrently and to die anywhere."""

    database: Database
    payments: Payments

    async def run(self) -> bool:
        """Ask about one batch; return True when more may be due. Payments without an answer are asked about later."""
        facts = self._now(), self.payments.gateway.name, BATCH
        rows = await fetch(self.database.pool, DuePayment, CLAIM, *facts)
        for row in rows:
            try:
                await self._ask(row)
            except DomainError:
                continue
        return len(rows) == BATCH

    async def due(self) -> bool:
        """Return whether a payment is to be asked about."""
        return await self.database.pool.ask(IS_DUE, self._now(), self.payments.gateway.name)

    async def _ask(self, row: DuePayment) -> None:
        seen_at = self._now()
        found = await self.payments.gateway.find(row.reference)
        await self.payments.book(found.notice, seen_at)
        if found.is_over:
            async with self.payments.unit(row.account_id) as unit:
                own = Payment.id == row.id, Payment.status == PaymentStatus.pending
                await unit.execute(update(Payment).where(*own).values(status=PaymentStatus.expired, look_at=None))

    def _now(self) -> datetime:
        return self.payments.clock.now()

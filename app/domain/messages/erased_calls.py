"""Texts that were erased during the call to their carrier: they are refunded, unless it accepts them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import delete

from app.db import rows
from app.db.engine import Connection, Database
from app.domain.billing import service as billing
from app.domain.kernel.clock import Clock
from app.domain.kernel.unit_of_work import Actor, Notify, open_unit
from app.domain.messages.erasure import REFUND
from app.domain.messages.models import ErasedCall

BATCH = 100

FIND_DUE = "SELECT message_id, account_id FROM erased_calls WHERE due_at <= $1 ORDER BY due_at LIMIT $2"
IS_DUE = "SELECT EXISTS (SELECT FROM erased_calls WHERE due_at <= $1)"

NOTE_ACCEPTED = """
WITH settled AS (DELETE FROM erased_calls WHERE message_id = ANY($1::bigint[]))
INSERT INTO carrier_erasures (message_id, carrier, provider_message_id, due_at)
SELECT id, carrier, provider_message_id, $4
FROM unnest($1::bigint[], $2::text[], $3::text[]) AS accepted(id, carrier, provider_message_id)
ON CONFLICT (message_id) DO UPDATE SET provider_message_id = excluded.provider_message_id, due_at = excluded.due_at
"""


class DueCall(NamedTuple):
    """A text that no carrier has accepted in time."""

    message_id: int
    account_id: int


class AcceptedText(NamedTuple):
    """An erased text that a carrier accepted, with the id that it gave the text."""

    message_id: int
    carrier: str
    provider_message_id: str | None


@dataclass(frozen=True, slots=True)
class ErasedCalls:
    """Refunds the texts that no carrier accepted; safe to run concurrently."""

    database: Database
    clock: Clock
    notify: Notify

    async def run(self) -> bool:
        """Refund one batch of texts; return True when more may be due."""
        found = await rows.fetch(self.database.pool, DueCall, FIND_DUE, self.clock.now(), BATCH)
        for call in found:
            await self._refund(call)
        return len(found) == BATCH

    async def due(self) -> bool:
        """Return whether a refund is due."""
        return await self.database.pool.ask(IS_DUE, self.clock.now())

    async def _refund(self, call: DueCall) -> None:
        """Refund a text, unless it is settled by now."""
        actor = Actor(call.account_id, frozenset())
        async with open_unit(self.database.sessions, actor, self.clock, self.notify) as unit:
            await billing.lock(unit)
            settled = delete(ErasedCall).where(ErasedCall.message_id == call.message_id).returning(ErasedCall.credits)
            credits = (await unit.execute(settled)).scalar_one_or_none()
            await billing.refund(unit, call.account_id, call.message_id, credits or 0, REFUND)


async def note_accepted(connection: Connection, texts: Sequence[AcceptedText], now: datetime) -> None:
    """Note that carriers accepted texts after their erasure: these stay paid, and the carriers delete their copies."""
    ids, carriers, names = zip(*texts, strict=True)
    await connection.execute(NOTE_ACCEPTED, ids, carriers, names, now)

"""Erasure of messages at carriers: recorded with the erasure of a contact, requested after it."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from app.db import claims
from app.db.engine import Database
from app.domain.carriers.carrier import CarriedMessage
from app.domain.carriers.connections import OpenConnections
from app.domain.kernel.clock import Clock

BATCH = 500
AGAIN = timedelta(minutes=5)
"""The wait before the next request to an unreachable carrier."""

CLAIM = """
WITH due AS (
  SELECT message_id FROM carrier_erasures WHERE due_at <= $1 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED
)
UPDATE carrier_erasures e SET due_at = $2 FROM due WHERE e.message_id = due.message_id
RETURNING e.message_id, e.carrier, e.provider_message_id, e.due_at
"""

GIVE_BACK = "UPDATE carrier_erasures SET due_at = $2 WHERE message_id = ANY($1::bigint[]) AND due_at = $3"

FORGET = "DELETE FROM carrier_erasures WHERE message_id = ANY($1::bigint[]) AND due_at = $2"
IS_DUE = "SELECT EXISTS (SELECT FROM carrier_erasures WHERE due_at <= $1)"


class Erasure(NamedTuple):
    """A message that a carrier is to delete."""

    message_id: int
    carrier: str
    provider_message_id: str | None
    due_at: datetime


@dataclass(frozen=True, slots=True)
class CarrierErasures:
    """Asks carriers to delete their copies of erased messages; safe to run concurrently."""

    database: Database
    connections: OpenConnections
    clock: Clock

    async def run(self) -> bool:
        """Request one batch of deletions; return True when more may be due."""
        now = self.clock.now()
        rows = await claims.claim(
            self.database.pool,
            Erasure,
            CLAIM,
            now,
            now + AGAIN,
            BATCH,
            give_back=self._give_back,
            seconds=AGAIN.seconds,
        )
        by_carrier: defaultdict[str, list[Erasure]] = defaultdict(list)
        for row in rows:
            by_carrier[row.carrier].append(row)
        await asyncio.gather(*(self._forget(carrier, claimed) for carrier, claimed in by_carrier.items()))
        return len(rows) == BATCH

    async def due(self) -> bool:
        """Return whether a request to a carrier is due."""
        return await self.database.pool.ask(IS_DUE, self.clock.now())

    async def _forget(self, carrier: str, claimed: Sequence[Erasure]) -> None:
        """Request deletions from one carrier; those of a connection that was removed are dropped.

        A message whose id at the carrier became known meanwhile is due again, and stays.
        """
        messages = [CarriedMessage(row.message_id, row.provider_message_id) for row in claimed]
        try:
            if connection := await self.connections.get(carrier):
                async with connection:
                    await connection.carrier.delete_copies(messages)
        except ConnectionError:
            return
        ids, until = [row.message_id for row in claimed], claimed[0].due_at
        await claims.persist(lambda: self.database.pool.execute(FORGET, ids, until), AGAIN.seconds)

    async def _give_back(self, rows: Sequence[Erasure]) -> None:
        """Release the claims of the erasures that no carrier was asked for."""
        ids = [row.message_id for row in rows]
        await self.database.pool.execute(GIVE_BACK, ids, self.clock.now(), rows[0].due_at)

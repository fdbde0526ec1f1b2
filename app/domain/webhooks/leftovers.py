"""Ends the pending deliveries that no subscription receives any more, in chunks.

Those of a removed subscription, and of events that an active one no longer receives, are canceled; those of a disabled
one are skipped.
"""

from dataclasses import dataclass

from app.db.engine import Database
from app.db.rows import find
from app.domain.webhooks import payloads
from app.domain.webhooks.models import DeliveryStatus, SubscriptionStatus
from app.domain.webhooks.rows import Leftover

TOPIC = "webhook_leftovers"
CHUNK = 1000
"""The number of deliveries that one transaction changes."""

IS_DUE = "SELECT EXISTS (SELECT FROM webhook_subscriptions WHERE has_leftovers)"

FIND = """
SELECT id, kind, events, status, revision FROM webhook_subscriptions WHERE has_leftovers ORDER BY random() LIMIT 1
"""

# A subscription that was changed meanwhile is read again. Deliveries that are locked are left to the next chunk.
CLEAR = """
WITH chunk AS (
  SELECT id FROM webhook_deliveries WHERE subscription_id = $1 AND status = 'pending' AND event <> ALL($5::text[])
  ORDER BY next_attempt_at, id LIMIT $4 FOR UPDATE SKIP LOCKED
)
UPDATE webhook_deliveries d SET status = $3, next_attempt_at = NULL FROM chunk
WHERE d.id = chunk.id
  AND EXISTS (SELECT FROM webhook_subscriptions WHERE id = $1 AND revision = $2 AND has_leftovers)
RETURNING d.id
"""

FINISH = """
UPDATE webhook_subscriptions s SET has_leftovers = false WHERE id = $1 AND revision = $2
  AND NOT EXISTS (
    SELECT FROM webhook_deliveries WHERE subscription_id = s.id AND status = 'pending' AND event <> ALL($3::text[]))
"""


@dataclass(frozen=True, slots=True)
class Leftovers:
    """Ends those deliveries, in separate transactions that lock no subscription."""

    database: Database

    async def run(self) -> bool:
        """Change one chunk; return True when more may be due."""
        pool = self.database.pool
        found = await find(pool, Leftover, FIND)
        if found is None:
            return False
        status = DeliveryStatus.skipped if found.status == SubscriptionStatus.disabled else DeliveryStatus.canceled
        kept = payloads.names_for(found.kind, found.events) if found.status == SubscriptionStatus.active else []
        changed = await pool.fetch(CLEAR, found.id, found.revision, status.value, CHUNK, kept)
        if len(changed) == CHUNK:
            return True
        finished = await pool.execute(FINISH, found.id, found.revision, kept)
        return finished.endswith(" 1") and await self.due()

    async def due(self) -> bool:
        """Return whether a subscription may have such deliveries."""
        return await self.database.pool.ask(IS_DUE)

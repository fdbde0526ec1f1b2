"""Cancels the pending deliveries of removed subscriptions, and skips those of disabled ones, in chunks."""

from dataclasses import dataclass

from app.db.engine import Database
from app.domain.webhooks.models import DeliveryStatus, SubscriptionStatus

TOPIC = "webhook_leftovers"
CHUNK = 1000
"""The number of deliveries that one transaction changes."""

IS_DUE = "SELECT EXISTS (SELECT FROM webhook_subscriptions WHERE has_leftovers)"

FIND = "SELECT id, status, revision FROM webhook_subscriptions WHERE has_leftovers ORDER BY random() LIMIT 1"

# A subscription that was activated meanwhile keeps its pending deliveries. Deliveries that a worker has locked are left
# to the next chunk.
CLEAR = """
WITH chunk AS (
  SELECT id FROM webhook_deliveries WHERE subscription_id = $1 AND status = 'pending'
  ORDER BY next_attempt_at, id LIMIT $4 FOR UPDATE SKIP LOCKED
)
UPDATE webhook_deliveries d SET status = $3, next_attempt_at = NULL FROM chunk
WHERE d.id = chunk.id
  AND EXISTS (SELECT FROM webhook_subscriptions WHERE id = $1 AND revision = $2 AND has_leftovers)
RETURNING d.id
"""

FINISH = """
UPDATE webhook_subscriptions s SET has_leftovers = false WHERE id = $1 AND revision = $2
  AND NOT EXISTS (SELECT FROM webhook_deliveries WHERE subscription_id = s.id AND status = 'pending')
"""


@dataclass(frozen=True, slots=True)
class Leftovers:
    """Ends the pending deliveries of ended subscriptions, in separate transactions that lock no subscription."""

    database: Database

    async def run(self) -> bool:
        """Change one chunk; return True when more may be due."""
        pool = self.database.pool
        found = await pool.fetchrow(FIND)
        if found is None:
            return False
        ended = found["status"] == SubscriptionStatus.removed
        status = DeliveryStatus.canceled if ended else DeliveryStatus.skipped
        changed = await pool.fetch(CLEAR, found["id"], found["revision"], status.value, CHUNK)
        if len(changed) == CHUNK:
            return True
        finished = await pool.execute(FINISH, found["id"], found["revision"])
        return finished.endswith(" 1") and await self.due()

    async def due(self) -> bool:
        """Return whether a subscription has deliveries to cancel or skip."""
        return await self.database.pool.fetchval(IS_DUE)

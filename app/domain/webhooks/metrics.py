"""Metrics of deliveries."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from app.db.engine import Pool

RECENT = timedelta(minutes=30)
BUSIEST = 100

COUNT_PENDING = """
SELECT CASE WHEN greatest(next_attempt_at, open_until) <= $1 THEN 'due' ELSE 'waiting' END AS state,
  count(*), extract(epoch FROM $1 - min(d.created_at)) AS oldest
FROM webhook_deliveries d JOIN webhook_subscriptions s ON s.id = subscription_id
WHERE d.status = 'pending' AND s.status = 'active' GROUP BY state
"""

# Ids grow with time: a binary search in their index finds the first recent one.
RATE = """
WITH RECURSIVE span AS (
  SELECT min(id) AS low, max(id) + 1 AS high FROM webhook_deliveries
  UNION ALL
  SELECT CASE WHEN is_before THEN probe.id + 1 ELSE low END, CASE WHEN is_before THEN high ELSE (low + high) / 2 END
  FROM span CROSS JOIN LATERAL (
    SELECT id, created_at < $1 AS is_before FROM webhook_deliveries WHERE id >= (low + high) / 2 ORDER BY id LIMIT 1
  ) probe WHERE low < high
)
SELECT subscription_id, avg((status = 'delivered')::int) AS rate FROM webhook_deliveries
WHERE id >= (SELECT low FROM span WHERE low >= high) AND attempts > 0
GROUP BY subscription_id ORDER BY count(*) DESC LIMIT $2
"""


async def count_pending(pool: Pool, now: datetime) -> Mapping[str, float]:
    """Return the number of deliveries that are due, and of those waiting for a retry or for a breaker to close."""
    return {"due": 0, "waiting": 0} | {row["state"]: row["count"] for row in await pool.fetch(COUNT_PENDING, now)}


async def age_pending(pool: Pool, now: datetime) -> Mapping[str, float]:
    """Return the age in seconds of the oldest due delivery and of the oldest waiting one."""
    found = {row["state"]: max(0.0, float(row["oldest"])) for row in await pool.fetch(COUNT_PENDING, now)}
    return {"due": 0.0, "waiting": 0.0} | found


async def rate_success(pool: Pool, now: datetime) -> Mapping[str, float]:
    """Return the success rate of recently attempted deliveries by subscription id, for the busiest subscriptions."""
    rows = await pool.fetch(RATE, now - RECENT, BUSIEST)
    return {str(row["subscription_id"]): float(row["rate"]) for row in rows}

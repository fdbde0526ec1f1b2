"""Age of the oldest work in each queue of the area, in seconds at `$1`; of a text since it was accepted."""

from collections.abc import Mapping
from datetime import datetime

from app.db.engine import Pool
from app.domain.messages.outgoing import WAITING

AGE = """
SELECT extract(epoch FROM $1 - created_at) FROM messages WHERE id =
  (SELECT message_id FROM outgoing WHERE claimed_until {} ORDER BY message_id LIMIT 1)
"""

OLDEST = {
    "messages": AGE.format("IS NULL"),
    "reconcile": AGE.format("IS NOT NULL"),
    "receipts": "SELECT extract(epoch FROM $1 - min(received_at)) FROM unmatched_receipts",
}

FIND_WAITING = f"""{WAITING}, since AS (
  SELECT w.carrier, least(first.due_at, $1) AS since FROM waiting w CROSS JOIN LATERAL (
    SELECT due_at, attempts FROM outgoing o WHERE o.carrier = w.carrier AND claimed_until IS NULL
    ORDER BY due_at LIMIT 1
  ) first
  WHERE first.due_at <= $1 OR first.attempts > 0
  UNION ALL
  SELECT carrier, unanswered_since FROM outgoing WHERE claimed_until IS NOT NULL AND unanswered_since IS NOT NULL
)
SELECT carrier, min(since) FROM since GROUP BY carrier
"""


async def find_waiting(pool: Pool, now: datetime) -> Mapping[str, datetime]:
    """Return, by the keys of connections, the time since which a text is due, or had an attempt without success."""
    return dict(await pool.fetch(FIND_WAITING, now))

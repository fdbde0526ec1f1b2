"""Lists and counts the failed reactions, and schedules the retry of those set aside."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from app.db.engine import Pool
from app.db.rows import fetch

LIST = """
SELECT f.event_id, f.account_id, e.name AS event, f.reaction, f.attempts, f.error, f.failed_at, f.next_attempt_at
FROM failed_reactions f LEFT JOIN events e ON e.id = f.event_id ORDER BY f.failed_at DESC, f.event_id DESC LIMIT $1
"""

RETRY = """
UPDATE failed_reactions SET next_attempt_at = $1, attempts = 0
WHERE next_attempt_at IS NULL AND ($2::bigint IS NULL OR event_id = $2)
"""

COUNT = """
SELECT CASE WHEN next_attempt_at IS NULL THEN 'set_aside' ELSE 'waiting' END AS state, count(*)
FROM failed_reactions GROUP BY state
"""


class Failed(NamedTuple):
    """A reaction that failed for an event."""

    event_id: int
    account_id: int
    event: str | None
    reaction: str
    attempts: int
    error: str
    failed_at: datetime
    next_attempt_at: datetime | None


async def list_failures(pool: Pool, limit: int) -> Sequence[Failed]:
    """Return failed reactions of all accounts, the latest first."""
    return await fetch(pool, Failed, LIST, limit)


async def retry(pool: Pool, event_id: int | None, now: datetime) -> int:
    """Make the reactions due that were set aside for an event, or for all events; return their number."""
    return int((await pool.execute(RETRY, now, event_id)).split()[-1])


async def count_failures(pool: Pool) -> Mapping[str, float]:
    """Return the numbers of failed reactions that wait for a retry, and that are set aside."""
    return {"waiting": 0, "set_aside": 0} | {row["state"]: row["count"] for row in await pool.fetch(COUNT)}

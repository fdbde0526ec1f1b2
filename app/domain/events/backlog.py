"""Age of the oldest work in each queue of the area, in seconds at `$1`, and the number of waiting events."""

from collections.abc import Mapping

from app.db.engine import Pool

OLDEST = {
    "events": "SELECT extract(epoch FROM $1 - created_at) FROM events WHERE id = (SELECT min(event_id) FROM outbox)",
    "failed_reactions": "SELECT extract(epoch FROM $1 - min(next_attempt_at)) FROM failed_reactions",
}


async def count_waiting(pool: Pool) -> Mapping[str, float]:
    """Return the number of events that wait to be dispatched."""
    return {"waiting": await pool.fetchval("SELECT count(*) FROM outbox")}

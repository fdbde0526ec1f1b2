"""Sets the due enrollments of paused sequences aside, and brings them back after the pause.

A pause writes the row of the sequence only. Each enrollment that becomes due meanwhile is met once by a worker, which
sets it aside, so that it is in no worker's way; one that is not due yet is never touched.
"""

from collections.abc import Sequence
from datetime import datetime

from app.db.engine import Pool

BATCH = 1000

# A sequence is locked before its enrollments, here as by every change of its status.
SET_ASIDE = """
WITH paused AS MATERIALIZED (
  SELECT id, has_set_aside FROM sequences WHERE id = ANY($1::bigint[]) AND status = 'paused'
  ORDER BY id FOR NO KEY UPDATE
), marked AS (
  UPDATE sequences s SET has_set_aside = true FROM paused WHERE s.id = paused.id AND NOT paused.has_set_aside
)
UPDATE sequence_enrollments e SET is_set_aside = true, claimed_until = NULL
FROM unnest($2::bigint[], $3::timestamptz[]) AS claimed(id, until), paused
WHERE e.id = claimed.id AND e.claimed_until = claimed.until AND e.sequence_id = paused.id AND e.status = 'active'
"""
HAS_RETURNING = "EXISTS (SELECT FROM sequences WHERE has_set_aside AND status = 'active')"
"""The condition that a sequence is active again and may have enrollments that were set aside."""

AT_ONCE = 4
"""The sequences of which one call brings a batch back, chosen at random; steps are sent between two calls."""

FIND_RETURNING = f"""
SELECT id FROM sequences WHERE has_set_aside AND status = 'active' ORDER BY random() LIMIT {AT_ONCE}
"""
LOCK_RETURNING = """
SELECT id FROM sequences WHERE id = $1 AND has_set_aside AND status = 'active' FOR NO KEY UPDATE
"""
# A step that became due during the pause is sent at once, as one that is a little late.
BRING_BACK = f"""
WITH back AS (
  SELECT id FROM sequence_enrollments WHERE sequence_id = $1 AND status = 'active' AND is_set_aside
  ORDER BY id LIMIT {BATCH} FOR UPDATE
)
UPDATE sequence_enrollments e
SET is_set_aside = false, next_send_at = greatest(e.next_send_at, $2::timestamptz - interval '1 hour')
FROM back WHERE e.id = back.id
"""
CLEAR = "UPDATE sequences SET has_set_aside = false WHERE id = $1"


async def set_aside(pool: Pool, sequence_ids: Sequence[int], claims: Sequence[tuple[int, datetime]]) -> None:
    """Set claimed enrollments aside, by their ids and the ends of their claims, if their sequences are still paused."""
    await pool.execute(SET_ASIDE, sorted(set(sequence_ids)), [id for id, _ in claims], [until for _, until in claims])


async def bring_back(pool: Pool, now: datetime) -> bool:
    """Bring a batch of enrollments of some sequences back; return whether more may be set aside."""
    ids = [row["id"] for row in await pool.fetch(FIND_RETURNING)]
    for id in ids:
        await _bring_back(pool, id, now)
    return bool(ids)


async def _bring_back(pool: Pool, sequence_id: int, now: datetime) -> None:
    async with pool.acquire() as connection, connection.transaction():
        if await connection.fetchval(LOCK_RETURNING, sequence_id) is None:
            return
        changed = await connection.execute(BRING_BACK, sequence_id, now)
        if int(changed.removeprefix("UPDATE ")) < BATCH:
            await connection.execute(CLEAR, sequence_id)

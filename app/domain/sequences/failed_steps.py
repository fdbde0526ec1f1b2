"""Sends a step again whose text failed after its acceptance, for a cause that may have passed by then."""

from collections.abc import Sequence
from datetime import datetime

from app.db.engine import Connection
from app.domain.carriers.carrier import FailureCode
from app.domain.kernel import sql as kernel
from app.domain.sequences.exits import STEP_KEY
from app.domain.sequences.schedule import RETRIES

TEMPORARY = frozenset(
    {FailureCode.unreachable, FailureCode.rate_limited, FailureCode.expired, FailureCode.carrier_error}
)
"""The failures after which the same step may reach the contact. Texts beyond a cap of a day were tried for days."""

# The enrollment goes back to its step, whose stored answer is removed: else the step would count as sent. It does not
# go back once the next step is about to be sent, which would change the order of the steps.
RETRY = f"""
WITH failed AS (
  SELECT e.id, e.account_id, e.sequence_id, e.steps_version, step.position, e.last_message_id, {STEP_KEY[1]} AS key,
    ($2::interval[])[e.last_attempts + 1] AS wait,
    e.remaining IS NOT NULL AND coalesce(e.paused_until > $3, true) AS is_paused
  FROM sequence_enrollments e JOIN sequence_steps step
    ON step.sequence_id = e.sequence_id AND step.version = e.steps_version AND step.position = e.position - 1
  JOIN sequences s ON s.id = e.sequence_id AND s.status <> 'archived' AND s.follows_below IS NULL
  WHERE e.last_message_id = ANY($1::bigint[]) AND e.last_attempts < {len(RETRIES)}
    AND {kernel.answered(*STEP_KEY, "message_id")}::bigint = e.last_message_id
    AND (e.status = 'finishing' AND NOT EXISTS (SELECT FROM sequence_enrollments other
        WHERE other.sequence_id = e.sequence_id AND other.contact_id = e.contact_id AND other.status = 'active')
      OR e.status = 'active' AND (e.claimed_until IS NULL OR e.claimed_until <= $3))
  ORDER BY e.id FOR UPDATE OF e
), removed AS ({kernel.remove_answers("failed")}), counted AS (
  UPDATE sequence_steps step SET sent = step.sent - c.failed FROM (
    SELECT sequence_id, steps_version AS version, position, count(*) AS failed FROM failed GROUP BY 1, 2, 3
  ) c WHERE (step.sequence_id, step.version, step.position) = (c.sequence_id, c.version, c.position)
)
UPDATE sequence_enrollments e SET status = 'active', position = failed.position, attempts = e.last_attempts + 1,
  next_send_at = CASE WHEN is_paused THEN e.paused_until ELSE $3::timestamptz END + wait,
  remaining = CASE WHEN is_paused THEN wait END, claimed_until = NULL, last_message_id = NULL
FROM failed WHERE e.id = failed.id RETURNING failed.last_message_id
"""


async def retry(connection: Connection, message_ids: Sequence[int], now: datetime) -> set[int]:
    """Send the steps of failed messages again later; return the messages whose steps are."""
    rows = await connection.fetch(RETRY, message_ids, RETRIES, now) if message_ids else []
    return {row["last_message_id"] for row in rows}

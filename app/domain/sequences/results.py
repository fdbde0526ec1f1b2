"""Follows the messages of steps to the answers of carriers: completes enrollments, or ends them.

An enrollment is `finishing` from the acceptance of its last step by this service to that by the carrier. One that is
under way ends when a step fails for good, such as for a landline. A step that fails for a cause that may pass is sent
again, three times within a day; then it is skipped, or ends the enrollment, as its sequence says. After other failures
the next step follows.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from app.db import rows
from app.db.engine import Connection
from app.domain.carriers.carrier import FailureCode
from app.domain.contacts import sql as contacts
from app.domain.events import outbox
from app.domain.events.outbox import Recorded
from app.domain.events.reactions import Batch, Reaction
from app.domain.kernel.events import timestamp
from app.domain.messages import sql as messages
from app.domain.messages.events import MessageDelivered, MessageFailed, MessageSent
from app.domain.messages.failures import OwnCode
from app.domain.messages.models import MessageStatus
from app.domain.sequences.events import DripCompleted
from app.domain.sequences.failed_steps import TEMPORARY, retry
from app.domain.sequences.schedule import RETRIES

FOR_GOOD = frozenset(
    {
        FailureCode.invalid_number,
        FailureCode.landline,
        FailureCode.opted_out,
        OwnCode.contact_opted_out,
        OwnCode.contact_dnd,
    }
)
"""The failures after which no step of a sequence can reach the contact."""

RESULTS = frozenset({MessageSent.name, MessageDelivered.name, MessageFailed.name})

FIND_OWN = """
SELECT last_message_id FROM sequence_enrollments
WHERE last_message_id = ANY($1::bigint[]) AND status IN ('active', 'finishing')
"""
SETTLE = f"""
WITH settled AS (
  SELECT e.id, r.reason FROM sequence_enrollments e JOIN sequences s ON s.id = e.sequence_id
  JOIN unnest($1::bigint[], $2::text[], $3::bool[], $5::bool[]) AS r(message_id, reason, ends, is_temporary)
    ON r.message_id = e.last_message_id
  WHERE e.status = 'finishing' OR (e.status = 'active' AND (r.ends
    OR r.is_temporary AND NOT s.skips_refused AND e.last_attempts >= {len(RETRIES)}))
  ORDER BY e.id FOR UPDATE OF e
), written AS (
  UPDATE sequence_enrollments e SET status = CASE settled.reason WHEN '' THEN 'completed' ELSE 'exited' END,
    exit_reason = settled.reason, ended_at = $4, next_send_at = NULL, claimed_until = NULL
  FROM settled WHERE e.id = settled.id
  RETURNING e.id, e.account_id, e.contact_id, e.sequence_id, e.status, e.request_id
)
SELECT written.account_id, written.contact_id, c.first_name, c.last_name, c.phone, c.email, written.sequence_id,
  s.name AS sequence_name, written.request_id
FROM written JOIN sequences s ON s.id = written.sequence_id {contacts.join("written.contact_id")}
WHERE written.status = 'completed' ORDER BY written.id
"""


class Completed(NamedTuple):
    """An enrollment whose last step a carrier has accepted."""

    account_id: int
    contact_id: int
    first_name: str
    last_name: str
    phone: str
    email: str
    sequence_id: int
    sequence_name: str
    request_id: str | None

    def event_at(self, now: datetime) -> DripCompleted:
        """Return the event of the completion."""
        return DripCompleted(
            contact_id=self.contact_id,
            first_name=self.first_name,
            last_name=self.last_name,
            phone=self.phone,
            email=self.email,
            sequence_id=self.sequence_id,
            sequence_name=self.sequence_name,
            completed_at=timestamp(now),
        )


async def follow(batch: Batch) -> None:
    """Settle the enrollments whose messages were sent or failed."""
    ids = {event.payload["message_id"] for event in batch.events if event.name in RESULTS}
    own = await batch.connection.fetch(FIND_OWN, list(ids)) if ids else []
    if own:
        found = await batch.connection.fetch(messages.FIND_RESULTS, [row["last_message_id"] for row in own])
        if await settle(batch.connection, found, batch.now):
            batch.notify("events")


async def settle(connection: Connection, results: Sequence[Mapping[str, Any]], now: datetime) -> bool:
    """Complete or end enrollments by the results of their last messages, or try again; return whether any completed."""
    settled = [row for row in results if row["status"] != MessageStatus.pending]
    retried = await retry(connection, [row["id"] for row in settled if row["error_code"] in TEMPORARY], now)
    settled = [row for row in settled if row["id"] not in retried]
    if not settled:
        return False
    reasons = [row["error_code"] or "" for row in settled]
    completed = await rows.fetch(
        connection,
        Completed,
        SETTLE,
        [row["id"] for row in settled],
        reasons,
        [reason in FOR_GOOD for reason in reasons],
        now,
        [reason in TEMPORARY for reason in reasons],
    )
    await _record(connection, completed, now)
    return bool(completed)


REACTIONS = (Reaction("sequence_results", follow),)


async def _record(connection: Connection, completed: Sequence[Completed], now: datetime) -> None:
    recorded = [Recorded(row.account_id, row.event_at(now), row.contact_id, row.request_id) for row in completed]
    await outbox.record_all(connection, recorded)

"""Ends enrollments after a reply, an opt-out or do-not-disturb.

Each step checks the same conditions before its send, so that no step depends on the dispatch of an event.
"""

from app.domain.consent import quoted_replies, recognition
from app.domain.consent.recognition import IntentKind
from app.domain.contacts.events import ContactDndChanged, NewOptOut
from app.domain.events.reactions import Batch, OutboxEvent, Reaction
from app.domain.kernel import sql
from app.domain.kernel.idempotency import OwnKey
from app.domain.messages.events import NewMessage

OPTED_OUT, DND, REPLIED = "contact_opted_out", "contact_dnd", "replied"
WEIGHT = (OPTED_OUT, DND, REPLIED)
"""The exit reasons in order of precedence."""

WAS_SENT = sql.is_answered("e.account_id", "chr(31) || 'step/' || e.id || '/' || e.position")
"""The condition that an enrollment's current step was sent: its `step_key` has a stored answer."""

# Enrollments created after the event are not ended, nor those whose last step was sent, which are about to complete.
EXIT = f"""
WITH ended AS (
  SELECT e.id FROM sequence_enrollments e
  JOIN unnest($1::bigint[], $2::bigint[], $3::timestamptz[]) AS fact(account_id, contact_id, at)
    ON e.account_id = fact.account_id AND e.contact_id = fact.contact_id AND e.created_at <= fact.at
  WHERE e.status = 'active' AND (NOT {WAS_SENT} OR EXISTS (
    SELECT FROM sequence_steps next WHERE next.sequence_id = e.sequence_id AND next.position = e.position + 1))
  ORDER BY e.id FOR UPDATE OF e
)
UPDATE sequence_enrollments e SET status = 'exited', exit_reason = $4, ended_at = now(), next_send_at = NULL,
  claimed_until = NULL
FROM ended WHERE e.id = ended.id
"""


def step_key(enrollment_id: int, position: int) -> OwnKey:
    """Return the idempotency key of the send of an enrollment's step."""
    return OwnKey("step", enrollment_id, position)


async def exit_enrollments(batch: Batch) -> None:
    """End the active enrollments of the contacts that replied, opted out or were set to do-not-disturb."""
    reasons = [(event, _reason(event)) for event in batch.events]
    for reason in WEIGHT:
        facts = [event for event, each in reasons if each == reason]
        if facts:
            await batch.connection.execute(
                EXIT,
                [fact.account_id for fact in facts],
                [fact.contact_id for fact in facts],
                [fact.created_at for fact in facts],
                reason,
            )


REACTIONS = (Reaction("sequence_exits", exit_enrollments),)


def _reason(event: OutboxEvent) -> str | None:
    match event.name:
        case NewOptOut.name:
            return OPTED_OUT
        case ContactDndChanged.name:
            return DND if event.payload["dnd_sms"] else None
        case NewMessage.name:
            return REPLIED if _is_reply(event.payload["body"]) else None
        case _:
            return None


def _is_reply(body: str) -> bool:
    """Return whether a message is a person's reply and not an opt-out, which has its own event and reason."""
    return quoted_replies.is_reply(body) and recognition.classify(body).kind is not IntentKind.opt_out

"""Ends enrollments after a reply, an opt-out, do-not-disturb, or a stage or tag with which their sequence ends.

Each step checks the same conditions before its send, so that no step depends on the dispatch of an event.
"""

from typing import NamedTuple

from app.db.rows import integers
from app.domain.consent import quoted_replies
from app.domain.consent.recognition import NOTHING, Intent, IntentKind
from app.domain.contacts.events import ContactDndChanged, ContactTagAdded, NewOptOut, PipelineStageChanged
from app.domain.events.reactions import Batch, OutboxEvent, Reaction
from app.domain.kernel import sql
from app.domain.kernel.idempotency import OwnKey
from app.domain.messages import intents
from app.domain.messages.events import NewMessage

OPTED_OUT, DND, REPLIED = "contact_opted_out", "contact_dnd", "replied"
STAGE, TAG = "contact_stage", "contact_tag"
NEW_PHONE = "phone_changed"
"""The exit reason of a contact with another phone than at its enrollment, by which consent was attested."""

WHICH = {
    OPTED_OUT: "true",
    DND: "true",
    REPLIED: "s.exits_on_reply",
    STAGE: "fact.value = ANY(s.exit_stages)",
    TAG: "fact.value = ANY(s.exit_tags)",
}
"""The exit reasons in order of precedence, each with the condition that a sequence `s` ends with the fact."""

STEP_KEY = "e.account_id", "chr(31) || 'step/' || e.id || '/' || step.key"
"""The account and the idempotency key of the send of an enrollment's step, as `step_key` returns it."""

# Enrollments created after the event are not ended, nor those whose last step was sent, which are about to finish.
EXIT = f"""
WITH ended AS (
  SELECT e.id FROM sequence_enrollments e
  JOIN unnest($1::text::bigint[], $2::text::bigint[], $3::timestamptz[], $4::text[])
    AS fact(account_id, contact_id, at, value)
    ON e.account_id = fact.account_id AND e.contact_id = fact.contact_id AND e.created_at <= fact.at
  JOIN sequences s ON s.id = e.sequence_id AND {{which}}
  JOIN sequence_steps step ON step.sequence_id = e.sequence_id AND step.version = e.steps_version
    AND step.position = e.position
  WHERE e.status = 'active' AND (NOT {sql.is_answered(*STEP_KEY)} OR EXISTS (
    SELECT FROM sequence_steps next WHERE next.sequence_id = e.sequence_id AND next.version = e.steps_version
      AND next.position = e.position + 1))
  ORDER BY e.id FOR UPDATE OF e
)
UPDATE sequence_enrollments e SET status = 'exited', exit_reason = $5, ended_at = now(), next_send_at = NULL,
  claimed_until = NULL
FROM ended WHERE e.id = ended.id
"""


class Fact(NamedTuple):
    """A fact about a contact that may end its enrollments; `value` is its stage, or its tag."""

    reason: str
    value: str = ""


def step_key(enrollment_id: int, key: int) -> OwnKey:
    """Return the idempotency key of the send of an enrollment's step."""
    return OwnKey("step", enrollment_id, key)


async def exit_enrollments(batch: Batch) -> None:
    """End the active enrollments of contacts for facts about them."""
    said = await intents.find_all(batch)
    found = [(event, fact) for event in batch.events if (fact := _find_fact(event, said.get(event.id, NOTHING)))]
    for reason, which in WHICH.items():
        facts = [(event, fact.value) for event, fact in found if fact.reason == reason]
        if facts:
            await batch.connection.execute(
                EXIT.format(which=which),
                integers([event.account_id for event, _ in facts]),
                integers([event.contact_id for event, _ in facts]),
                [event.created_at for event, _ in facts],
                [value for _, value in facts],
                reason,
            )


REACTIONS = (Reaction("sequence_exits", exit_enrollments),)


def _find_fact(event: OutboxEvent, intent: Intent) -> Fact | None:
    match event.name:
        case NewOptOut.name:
            return Fact(OPTED_OUT)
        case ContactDndChanged.name:
            return Fact(DND) if event.payload["dnd_sms"] else None
        case NewMessage.name:
            return Fact(REPLIED) if _is_reply(event.payload["body"], intent) else None
        case PipelineStageChanged.name:
            return Fact(STAGE, event.payload["new_stage"])
        case ContactTagAdded.name:
            return Fact(TAG, event.payload["tag"])
        case _:
            return None


def _is_reply(body: str, intent: Intent) -> bool:
    """Return whether a message is a person's reply and not an opt-out, which has its own event and reason."""
    return quoted_replies.is_reply(body) and intent.kind is not IntentKind.opt_out

"""The intents of inbound messages: those that their texts express, or the keywords that the carrier acted on."""

from collections.abc import Mapping

from app.domain.carriers.carrier import Keyword
from app.domain.consent import recognition
from app.domain.consent.recognition import KEYWORD_LENGTH, Intent, IntentKind
from app.domain.conversations.events import NewConversation
from app.domain.events.reactions import Batch
from app.domain.messages.events import NewMessage

ANSWERED = {
    Keyword.stop: IntentKind.opt_out,
    Keyword.start: IntentKind.opt_in,
    Keyword.help: IntentKind.help,
}
"""The intents of the keywords that a carrier acts on itself, whatever the text."""

TEXTS = {NewMessage.name: ("id", "body"), NewConversation.name: ("conversation_id", "first_message")}
"""The events about an inbound text, each with the names of its id and of the text."""

FIND_ANSWERED = f"""
SELECT e.id, m.answered_keyword FROM unnest($1::bigint[], $2::text[], $3::bigint[]) AS e(id, name, about)
CROSS JOIN LATERAL (
  SELECT answered_keyword FROM messages WHERE e.name = '{NewMessage.name}' AND id = e.about
  UNION ALL (
    SELECT answered_keyword FROM messages WHERE e.name = '{NewConversation.name}' AND conversation_id = e.about
    ORDER BY id LIMIT 1
  )
) m WHERE m.answered_keyword IS NOT NULL
"""


def classify(
    body: str, answered: str | None = None, *, opted_out: bool = False, opt_in_pending: bool = False
) -> Intent:
    """Return the intent of a message: that of the keyword which the carrier answered, or else that of its text."""
    intent = recognition.classify(body, opted_out=opted_out, opt_in_pending=opt_in_pending)
    if answered is None or intent.kind is ANSWERED[Keyword(answered)]:
        return intent
    return Intent(ANSWERED[Keyword(answered)], body.strip()[:KEYWORD_LENGTH], "carrier")


async def find_all(batch: Batch) -> Mapping[int, Intent]:
    """Return the intents of the inbound texts of a batch by the ids of their events."""
    said = [event for event in batch.events if event.name in TEXTS]
    if not said:
        return {}
    about = [event.payload[TEXTS[event.name][0]] for event in said]
    facts = [event.id for event in said], [event.name for event in said], about
    answered = {row["id"]: row["answered_keyword"] for row in await batch.connection.fetch(FIND_ANSWERED, *facts)}
    return {event.id: classify(event.payload[TEXTS[event.name][1]], answered.get(event.id)) for event in said}

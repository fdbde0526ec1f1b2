"""Adds the results of texts, replies and opt-outs to the hours of their sending numbers."""

from collections.abc import Sequence

from app.domain.carriers.carrier import FailureCode
from app.domain.contacts.events import NewOptOut
from app.domain.conversations import sql as conversations
from app.domain.events.reactions import Batch, OutboxEvent, Reaction
from app.domain.kernel.phone import calling_code
from app.domain.messages import sql as messages
from app.domain.messages.events import MessageDelivered, MessageFailed, MessageSent, NewMessage
from app.domain.messages.failures import OwnCode

RESULTS = frozenset({MessageSent.name, MessageDelivered.name, MessageFailed.name})
REFUSED = (
    FailureCode.unregistered_sender,
    FailureCode.sender_invalid,
    FailureCode.destination_not_allowed,
    FailureCode.account_problem,
    FailureCode.daily_cap,
    FailureCode.rate_limited,
)
"""The failures that say nothing of the network: the sender or its account was refused."""

PROMPT_HOURS = 24
"""The hours after a text within which an opt-out counts against its number."""

ANSWERS = ["replies", "opt_outs", "prompt_opt_outs"]
COUNTED = ["sent", "delivered", "failed", "filtered", "unreachable", "refused", *ANSWERS]
ADD = f"""
ON CONFLICT (account_id, number, hour, carrier, region, segments) DO UPDATE SET
  {", ".join(f"{name} = h.{name} + excluded.{name}" for name in COUNTED)}
"""

# Texts that a gate of ours stopped, and those whose time was over before a carrier took them, never reached a network,
# and count nowhere. The array of ids has the texts found by it; a plan of a time with few texts would read all of them.
ADD_RESULTS = f"""
INSERT INTO number_hours AS h
  (account_id, number, hour, carrier, region, segments, sent, delivered, failed, filtered, unreachable, refused)
SELECT e.account_id, m.from_number, date_trunc('hour', coalesce(m.sent_at, e.at), 'UTC') AS hour, m.carrier, e.region,
  m.segments, count(*) FILTER (WHERE name = '{MessageSent.name}'),
  count(*) FILTER (WHERE name = '{MessageDelivered.name}'),
  count(*) FILTER (WHERE name = '{MessageFailed.name}' AND m.error_code <> ALL($6::text[])),
  count(*) FILTER (WHERE name = '{MessageFailed.name}' AND m.error_code = '{FailureCode.filtered}'),
  count(*) FILTER (WHERE name = '{MessageFailed.name}' AND m.error_code = '{FailureCode.unreachable}'),
  count(*) FILTER (WHERE name = '{MessageFailed.name}' AND m.error_code = ANY($6::text[]))
FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::timestamptz[])
  AS e(account_id, message_id, name, region, at) {messages.join("e.message_id")}
WHERE m.id = ANY($2::bigint[]) AND (m.error_code IS NULL OR m.error_code <> ALL($7::text[])
  AND (m.error_code <> '{FailureCode.expired}' OR m.sent_at IS NOT NULL OR m.provider_message_id IS NOT NULL))
GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6
{ADD}
"""
NUMBER = "coalesce(e.number, v.sending_number)"
ADD_ANSWERS = f"""
INSERT INTO number_hours AS h (account_id, number, hour, carrier, region, segments, {", ".join(ANSWERS)})
SELECT e.account_id, {NUMBER} AS number, date_trunc('hour', e.at, 'UTC') AS hour, '', '', 0,
  count(*) FILTER (WHERE name = '{NewMessage.name}'), count(*) FILTER (WHERE name = '{NewOptOut.name}'),
  count(*) FILTER (WHERE name = '{NewOptOut.name}' AND
    {messages.last_text_before("e.contact_id", NUMBER, "e.at")} > e.at - interval '{PROMPT_HOURS} hours')
FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::timestamptz[])
  AS e(account_id, contact_id, name, number, at) {conversations.join("e.contact_id")}
WHERE {NUMBER} IS NOT NULL
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
{ADD}
"""


async def add_results(batch: Batch) -> None:
    """Count the results, replies and opt-outs of a batch of events."""
    if results := [event for event in batch.events if event.name in RESULTS and "message_id" in event.payload]:
        await batch.connection.execute(
            ADD_RESULTS,
            [event.account_id for event in results],
            [event.payload["message_id"] for event in results],
            [event.name for event in results],
            [calling_code(event.payload.get("to_number", "")) for event in results],
            [event.created_at for event in results],
            list(REFUSED),
            list(OwnCode),
        )
    if answers := [event for event in batch.events if event.name in (NewMessage.name, NewOptOut.name)]:
        await batch.connection.execute(ADD_ANSWERS, *_answers(answers))


REACTIONS = (Reaction("deliverability", add_results),)


def _answers(
    events: Sequence[OutboxEvent],
) -> tuple[list[int], list[int | None], list[str], list[str | None], list[object]]:
    return (
        [event.account_id for event in events],
        [event.contact_id for event in events],
        [event.name for event in events],
        [event.payload.get("to_number") for event in events],
        [event.created_at for event in events],
    )

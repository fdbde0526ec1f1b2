"""Adds a run for each inbound message of an account with active agents; messages of a burst are one run.

One that was answered already, as by a watched keyword, only belongs to the burst of an earlier one without an answer.
"""

from app.domain.agents.runner import TOPIC
from app.domain.conversations import sql as conversations
from app.domain.events.reactions import Batch, Reaction
from app.domain.messages.events import NewMessage

LONGEST_BURST = 60
"""Seconds after the first message of a burst until which a run waits at most, beside the debounce of one message."""

# The conversation is that of the contact now: a merge may have joined the one of the event with another.
ADD = f"""
INSERT INTO ai_agent_runs (account_id, contact_id, conversation_id, message_id, due_at, created_at)
SELECT m.account_id, m.contact_id, {conversations.ID}, m.message_id,
  $4::timestamptz + make_interval(secs => a.debounce_seconds), $4
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS m(account_id, contact_id, message_id)
{conversations.join("m.contact_id")}
CROSS JOIN LATERAL (
  SELECT min(debounce_seconds) AS debounce_seconds FROM ai_agents
  WHERE account_id = m.account_id AND status = 'active' HAVING count(*) > 0
) a
WHERE {conversations.ID} IS NOT NULL
  AND ($5 OR EXISTS (SELECT FROM ai_agent_runs u WHERE u.conversation_id = {conversations.ID} AND u.status <> 'done'))
ORDER BY m.message_id
ON CONFLICT (conversation_id) WHERE status = 'waiting' DO UPDATE SET
  message_id = greatest(ai_agent_runs.message_id, excluded.message_id), messages = ai_agent_runs.messages + 1,
  due_at = least(
    excluded.due_at,
    ai_agent_runs.created_at + interval '{LONGEST_BURST} seconds' + (excluded.due_at - excluded.created_at)
  )
"""


async def enqueue(batch: Batch) -> None:
    """Add or extend the runs of the messages of a batch, one message at a time, because each may extend a run."""
    for event in batch.events:
        if event.name == NewMessage.name and event.contact_id is not None:
            payload = event.payload
            ids = [event.account_id], [event.contact_id], [payload["id"]]
            added = await batch.connection.execute(ADD, *ids, batch.now, event.id not in batch.answered)
            if not added.endswith(" 0"):
                batch.notify(TOPIC)


REACTIONS = (Reaction("ai_agents", enqueue),)

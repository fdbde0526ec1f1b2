"""Adds the live updates of dispatched events to the feeds of their accounts.

The texts of campaigns are not told one by one, which would flood every open page: the progress of their campaign, one
update a second, stands for them.
"""

from app.db.rows import integers, texts, unless_all
from app.domain.conversations import sql as conversations
from app.domain.conversations.events import NewConversation
from app.domain.events.reactions import Batch, OutboxEvent, Reaction
from app.domain.kernel.events import UpdateKind, live_kind_of
from app.domain.messages import sql as messages

# The transaction locks the accounts, so that no other one continues from the same position. Unless materialized, the
# newest position would be read for each event.
ADD_UPDATES = f"""
WITH event AS (
  SELECT * FROM unnest($1::text::bigint[], $2::text::text[], $3::text::bigint[], $4::text::bigint[], $5::timestamptz[],
    $6::bigint[], $7::bigint[], $8::text[], $9::bigint[], $10::bigint[], $11::bigint[]) WITH ORDINALITY
    AS e(account_id, name, contact_id, message_id, happened_at, job_id, campaign_id, actor, note_id, agent_id, run_id,
    place)
), newest AS MATERIALIZED (
  SELECT account_id, (SELECT max(position) FROM live_updates u WHERE u.account_id = a.account_id) AS position
  FROM (SELECT DISTINCT account_id FROM event) a
)
INSERT INTO live_updates (account_id, position, name, contact_id, message_id, happened_at, job_id, campaign_id, actor,
  note_id, agent_id, run_id, conversation_id)
SELECT event.account_id, coalesce(position, 0) + row_number() OVER (PARTITION BY event.account_id ORDER BY place), name,
  event.contact_id, message_id, happened_at, job_id, campaign_id, actor, note_id, agent_id, run_id, v.id
FROM event JOIN newest USING (account_id) {conversations.join("event.contact_id")}
WHERE CASE
  WHEN event.name = ANY($12::text[]) THEN NOT {messages.is_of_campaign("event.message_id")}
  WHEN event.name = '{NewConversation.name}' THEN NOT {messages.began_with_campaign("event.contact_id")}
  ELSE true END
"""

RARE = ("campaign_id", "actor", "note_id", "agent_id", "run_id")
"""Keys of payloads that few events have."""


async def add_updates(batch: Batch) -> None:
    """Add the live updates of a batch of events, in their order."""
    live = [(event, kind) for event in batch.events if (kind := live_kind_of(event.name))]
    if live:
        await batch.connection.execute(
            ADD_UPDATES,
            integers([event.account_id for event, _ in live]),
            texts(event.name for event, _ in live),
            integers([event.contact_id for event, _ in live]),
            integers(_message_id(event, kind) for event, kind in live),
            [event.created_at for event, _ in live],
            unless_all([_job_id(event, kind) for event, kind in live], None),
            *(unless_all([event.payload.get(name) for event, _ in live], None) for name in RARE),
            list({event.name for event, kind in live if kind is UpdateKind.message_status}),
        )


REACTIONS = (Reaction("live_updates", add_updates),)


def _message_id(event: OutboxEvent, kind: UpdateKind) -> int | None:
    return event.payload.get("id" if kind is UpdateKind.new_message else "message_id")


def _job_id(event: OutboxEvent, kind: UpdateKind) -> int | None:
    return event.payload.get("job_id") if kind is UpdateKind.job_progress else None

"""Keeps the verdicts of carriers on phones that no text reaches, so that promotional texts leave them out."""

from app.domain.contacts import sql as contacts
from app.domain.contacts.models import Reach
from app.domain.events.reactions import Batch, Reaction
from app.domain.messages.events import MessageDelivered, MessageFailed

RESULTS = frozenset({MessageDelivered.name, MessageFailed.name})
VERDICTS = f"'{Reach.invalid_number}', '{Reach.landline}'"

# The newest of the texts of a contact decides. A contact who has written since is reached.
_NEWEST = f"""
  SELECT DISTINCT ON (m.contact_id) m.contact_id, m.to_number AS phone,
    CASE m.status WHEN 'failed' THEN m.error_code END AS verdict
  FROM messages m WHERE m.id = ANY($1::bigint[])
    AND (m.status = 'delivered' OR m.status = 'failed' AND m.error_code IN ({VERDICTS}))
    AND NOT EXISTS (SELECT FROM messages later WHERE later.contact_id = m.contact_id AND later.direction = 'inbound'
      AND later.id > m.id AND m.status = 'failed')
  ORDER BY m.contact_id, m.id DESC
"""
KEEP = contacts.KEEP_VERDICTS.format(results=_NEWEST, verdicts=VERDICTS)


async def keep(batch: Batch) -> None:
    """Keep the verdicts in the results of a batch of events."""
    ids = {event.payload["message_id"] for event in batch.events if event.name in RESULTS}
    if ids:
        await batch.connection.execute(KEEP, sorted(ids))


REACTIONS = (Reaction("verdicts", keep),)

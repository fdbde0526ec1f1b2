"""Plans the pushes of texts and of their statuses."""

from collections.abc import Iterator
from typing import NamedTuple

from app.db.rows import fetch
from app.domain.contacts import sql as contacts
from app.domain.crm.models import CrmPushKind
from app.domain.crm.service import TOPIC
from app.domain.events.reactions import Batch, OutboxEvent, Reaction
from app.domain.messages import sql as messages
from app.domain.messages.events import MessageDelivered, MessageFailed, MessageSent, NewMessage

FIND = """
SELECT account_id, integration_id FROM crm_connections
WHERE account_id = ANY($1::bigint[]) AND integration_id IS NOT NULL
"""
ADD = f"""
INSERT INTO crm_pushes (account_id, integration_id, kind, contact_id, message_id, due_at, created_at)
SELECT p.account_id, p.integration_id, p.kind, c.id, p.message_id, $6, $6
FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[])
  WITH ORDINALITY AS p(account_id, integration_id, kind, contact_id, message_id, place)
{contacts.join("p.contact_id")} ORDER BY p.place
ON CONFLICT DO NOTHING
"""
OWN = {MessageDelivered.name: CrmPushKind.delivered, MessageFailed.name: CrmPushKind.failed}
"""The pushes of events about texts that the CRM asked for."""


class Connected(NamedTuple):
    """An account and its connection to a CRM."""

    account_id: int
    integration_id: int


async def plan(batch: Batch) -> None:
    """Push inbound texts and copies of outbound ones to each CRM, and the statuses of texts that the CRM asked for."""
    events = [event for event in batch.events if _id_of(event) and event.contact_id is not None]
    connected = await fetch(batch.connection, Connected, FIND, list({event.account_id for event in events}))
    if not connected:
        return
    ids = [_id_of(event) for event in events]
    actors = {row["id"]: row["actor"] for row in await batch.connection.fetch(messages.FIND_ACTORS, ids)}
    found = [
        (event.account_id, to.integration_id, kind, event.contact_id, _id_of(event))
        for event in events
        for to in connected
        if to.account_id == event.account_id
        for kind in _kinds(event, is_own=actors.get(_id_of(event)) == f"integration:{to.integration_id}")
    ]
    if found:
        await batch.connection.execute(ADD, *map(list, zip(*found, strict=True)), batch.now)
        batch.notify(TOPIC)


REACTIONS = (Reaction("crm", plan),)


def _id_of(event: OutboxEvent) -> int | None:
    match event.name:
        case NewMessage.name:
            return event.payload["id"]
        case MessageSent.name | MessageDelivered.name | MessageFailed.name:
            return event.payload["message_id"]
        case _:
            return None


def _kinds(event: OutboxEvent, *, is_own: bool) -> Iterator[CrmPushKind]:
    """Yield the push of an event; a text of the CRM itself is not copied back to it."""
    if event.name == NewMessage.name:
        yield CrmPushKind.inbound
    elif is_own and event.name in OWN:
        yield OWN[event.name]
    elif not is_own and event.name == MessageSent.name:
        yield CrmPushKind.copy

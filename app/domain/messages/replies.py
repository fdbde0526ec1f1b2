"""Replies in conversations."""

from datetime import timedelta

from app.domain.contacts import queries as contacts
from app.domain.conversations import queries as conversations
from app.domain.kernel import idempotency
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import queries
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.models import Purpose
from app.domain.messages.requests import Acceptance, Send
from app.domain.numbers import queries as numbers

WINDOW = timedelta(hours=24)
"""The time after a contact's message in which a reply needs no certification of consent."""


async def reply(
    unit: UnitOfWork,
    acceptor: SendAcceptor,
    conversation_id: int,
    body: str,
    *,
    consent_attested: bool,
    idempotency_key: str | None,
) -> Acceptance:
    """Send a message to the contact of a conversation, from the number that the contact wrote to last.

    Within `WINDOW` of the contact's latest message it is conversational: it needs no `consent_attested`, goes before
    other messages, and passes a hold. The number is the primary one where the contact never wrote, or the number is not
    active any more. Raises `NotFound`, and what `SendAcceptor.accept` raises.
    """
    conversation = await conversations.get(unit, conversation_id)
    contact = await contacts.get(unit, conversation.contact_id)
    latest = await queries.find_last_inbound(unit, conversation_id)
    is_answer = latest is not None and latest.created_at > unit.clock.now() - WINDOW
    send = Send(
        contact.phone,
        body,
        consent_attested,
        await numbers.find_id(unit, latest.to_number) if latest else None,
        idempotency_key,
        purpose=Purpose.conversational if is_answer else Purpose.transactional,
        contact_id=contact.id,
        fingerprint=idempotency.fingerprint("reply", conversation_id=conversation_id, body=body),
        is_shown_live=True,
    )
    await unit.pause()
    return await acceptor.accept(unit.actor, send)

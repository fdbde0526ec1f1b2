"""Review of replies that may be opt-outs, and the changes of a contact that settle it."""

from collections.abc import Sequence

from app.domain.consent.models import SuppressionReason
from app.domain.consent.service import Evidence
from app.domain.contacts import opt_outs
from app.domain.contacts import service as contacts
from app.domain.contacts.additions import AnyContact
from app.domain.contacts.models import Contact, ContactFields
from app.domain.conversations import history, service
from app.domain.conversations import queries as conversations
from app.domain.conversations.events import ConversationChanged
from app.domain.conversations.models import Conversation
from app.domain.kernel.unit_of_work import UnitOfWork


async def decide(unit: UnitOfWork, conversation_id: int, *, opted_out: bool) -> Conversation:
    """Decide whether an unclear reply was an opt-out, and release the hold or opt the contact out."""
    contact_id = (await conversations.get(unit, conversation_id)).contact_id
    await opt_outs.release_hold(unit, contact_id, opted_out=opted_out)
    await settle(unit, contact_id)
    return await conversations.get(unit, conversation_id)


async def record_opt_out(unit: UnitOfWork, contact_id: int, evidence: Evidence) -> Contact:
    """Record an opt-out that was given by mail, by phone or in person."""
    contact = await opt_outs.record_opt_out(unit, contact_id, evidence)
    await settle(unit, contact_id)
    return contact


async def record_opt_outs(unit: UnitOfWork, found: Sequence[AnyContact], evidence: Evidence) -> None:
    """Record the opt-outs of locked contacts, with evidence as for `opt_outs.opt_out_many`."""
    if found:
        await opt_outs.opt_out_many(unit, found, SuppressionReason.recorded, evidence)
        await settle_many(unit, [each.id for each in found])


async def revoke(unit: UnitOfWork, phone: str, evidence: Evidence) -> str:
    """Record an opt-out of a phone in any spelling, whether or not a contact has it; return it in E.164."""
    normal = await contacts.normalize(unit, phone)
    if contact := await opt_outs.revoke(unit, normal, evidence):
        await settle(unit, contact.id)
    return normal


async def record_opt_in(unit: UnitOfWork, contact_id: int, evidence: Evidence) -> Contact:
    """Record a new written consent, with the text that the person agreed to."""
    contact = await opt_outs.record_opt_in(unit, contact_id, evidence)
    await settle(unit, contact_id)
    return contact


async def update_contact(unit: UnitOfWork, contact_id: int, fields: ContactFields) -> Contact:
    """Update a contact; a new phone or an opt-out settles a pending review."""
    return await _settled(unit, await contacts.update(unit, contact_id, fields), fields)


async def upsert_contact(unit: UnitOfWork, fields: ContactFields, source_if_new: str) -> Contact:
    """Add a contact, or update the one with that phone; an opt-out settles a pending review."""
    return await _settled(unit, await contacts.upsert(unit, fields, source_if_new), fields)


async def _settled(unit: UnitOfWork, contact: Contact, fields: ContactFields) -> Contact:
    if fields.keys() & {"phone", "status"} and contact.held_until is None:
        await settle(unit, contact.id)
    return contact


async def settle(unit: UnitOfWork, contact_id: int) -> None:
    """Clear `possible_opt_out` of the conversation with a contact that is no longer held."""
    conversation = await conversations.find_by_contact(unit, contact_id, lock=True)
    if conversation is not None and conversation.possible_opt_out:
        before = ConversationChanged.of(unit, conversation)
        conversation.possible_opt_out = False
        await service.save(unit, conversation, before)


async def settle_many(unit: UnitOfWork, contact_ids: Sequence[int]) -> None:
    """Clear `possible_opt_out` of the conversations with contacts that are no longer held, locked by their ids."""
    doubtful = await conversations.lock_doubtful(unit, contact_ids)
    for conversation in doubtful:
        before = ConversationChanged.of(unit, conversation)
        conversation.possible_opt_out = False
        history.record_change(unit, conversation, before)
    await unit.save(*doubtful)


async def expire(unit: UnitOfWork) -> int:
    """Turn the expired holds of the actor's account into opt-outs; return their number."""
    expired = await opt_outs.expire_holds(unit)
    await settle_many(unit, expired)
    return len(expired)

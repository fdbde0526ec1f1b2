"""Erases a contact with its messages and events."""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import func, insert, literal, select

from app.domain.billing import service as billing
from app.domain.contacts import opt_outs
from app.domain.contacts import queries as contacts
from app.domain.erasure.models import CarrierErasure
from app.domain.events import erasure as events
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import queries
from app.domain.messages.models import Direction, ErasedText, Message
from app.domain.webhooks import erasure as webhooks

REPEATED_FOR = timedelta(days=7)
"""How long after a text, at most, a carrier may bring it again."""


@dataclass(frozen=True, slots=True)
class Erased:
    """The rows that an erasure removed."""

    deleted_id: int
    deleted_messages: int


async def erase(unit: UnitOfWork, contact_id: int) -> Erased:
    """Remove a contact for good, with all messages and conversations, and what events and webhooks say of it.

    Texts that have not been reported as sent are given back, even one that a carrier holds at this moment: the
    account does not pay for a message that the service can no longer account for. The suppression of the phone,
    the consent record and the ledger stay. What nobody has heard of yet, nobody hears of. Carriers forget the
    messages after the commit. What takes long is done before dispatching is held, which stops all accounts' events.
    """
    await billing.lock(unit)
    contact = await contacts.get(unit, contact_id, lock=True)
    await opt_outs.close_hold(unit, contact, "contact_deleted")
    deleted = await queries.lock_all(unit, contact_id)
    for message in await queries.list_waiting(unit, contact_id):
        await billing.refund(unit, message.account_id, message.id, message.credits, "Contact deleted before sending")
    await _note_texts(unit, contact_id)
    await _note_carried(unit, contact_id)
    await queries.delete_all(unit, contact_id)
    await webhooks.empty_dispatched(unit, contact_id)
    await events.empty_dispatched(unit, contact_id)
    await events.hold_dispatch(unit)
    await webhooks.empty(unit, contact_id)
    await events.empty(unit, contact_id)
    await unit.delete(contact)
    return Erased(contact_id, deleted)


async def _note_texts(unit: UnitOfWork, contact_id: int) -> None:
    """Note what the carrier called the texts of late, so that they are not taken in again."""
    now = unit.clock.now()
    texts = select(Message.carrier, Message.provider_message_id, literal(now)).where(
        Message.account_id == unit.actor.account_id,
        Message.contact_id == contact_id,
        Message.direction == Direction.inbound,
        Message.created_at > now - REPEATED_FOR,
    )
    names = [ErasedText.carrier, ErasedText.provider_message_id, ErasedText.erased_at]
    await unit.execute(insert(ErasedText).from_select(names, texts))


async def _note_carried(unit: UnitOfWork, contact_id: int) -> None:
    """Note what carriers are to forget; a text that one is being given at this moment, when that is over."""
    due_at = func.greatest(unit.clock.now(), Message.claimed_until)
    carried = select(Message.id, Message.carrier, Message.provider_message_id, due_at).where(
        Message.account_id == unit.actor.account_id, Message.contact_id == contact_id
    )
    names = [
        CarrierErasure.message_id,
        CarrierErasure.carrier,
        CarrierErasure.provider_message_id,
        CarrierErasure.due_at,
    ]
    await unit.execute(insert(CarrierErasure).from_select(names, carried))
    unit.notify("erasures")

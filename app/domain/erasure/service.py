"""Erases a contact with its messages and events."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.billing import service as billing
from app.domain.campaigns import erasure as campaigns
from app.domain.carriers import lookups
from app.domain.consent import opt_in_requests
from app.domain.consent.models import SuppressionReason
from app.domain.contacts import loading, opt_outs
from app.domain.contacts import queries as contacts
from app.domain.contacts.models import Contact
from app.domain.conversations import queries as conversations
from app.domain.crm import erasure as crm
from app.domain.events import erasure as events
from app.domain.integrations import erasure as integrations
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import erasure as messages
from app.domain.webhooks import erasure as webhooks


@dataclass(frozen=True, slots=True)
class Erased:
    """The result of an erasure."""

    deleted_id: int
    deleted_messages: int


async def lock(unit: UnitOfWork, contact_ids: Sequence[int]) -> None:
    """Lock contacts that one transaction erases, their messages and conversations, each by their ids, as others do."""
    await billing.lock(unit)
    await integrations.lock(unit, *contact_ids)
    await loading.lock_many(unit, Contact.id.in_(contact_ids))
    await messages.lock_all(unit, *contact_ids)
    await conversations.lock_of_contacts(unit, contact_ids)


async def erase(unit: UnitOfWork, contact_id: int) -> Erased:
    """Delete a contact with its messages and conversation, and empty its events and webhook deliveries.

    Messages that have not left are refunded; one in a call to its carrier is refunded after it, unless the carrier
    accepted it. The suppression of the phone, the consent records and the ledger remain. Events that were not
    dispatched are not delivered. Carriers delete the messages after the commit.
    """
    await billing.lock(unit)
    await integrations.lock(unit, contact_id)
    contact = await contacts.get(unit, contact_id, lock=True)
    await opt_outs.close_hold(unit, contact, SuppressionReason.contact_deleted)
    await opt_in_requests.forget(unit, contact.phone, messages.received_from(unit, contact_id))
    deleted = await messages.lock_all(unit, contact_id)
    await campaigns.forget(unit, contact_id, await messages.refund_unsent(unit, contact_id))
    await integrations.forget(unit, contact)
    await crm.forget(unit, contact)
    await lookups.forget(unit, contact.phone)
    await messages.erase_all(unit, contact_id)
    await events.hold_dispatch(unit)
    await webhooks.empty(unit, contact_id)
    await events.empty(unit, contact_id)
    await unit.delete(contact)
    return Erased(contact_id, deleted)

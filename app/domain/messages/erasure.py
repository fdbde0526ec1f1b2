"""Erasing a contact with everything that was said."""

from dataclasses import dataclass

from app.domain.billing import service as billing
from app.domain.contacts import queries as contacts
from app.domain.kernel.unit import Unit
from app.domain.messages import queries


@dataclass(frozen=True, slots=True)
class Erased:
    """What an erasure removed."""

    deleted_id: int
    deleted_messages: int


async def erase(unit: Unit, contact_id: int) -> Erased:
    """Remove a contact for good, with all messages and conversations.

    Texts that have not been reported as sent are given back, even one that a carrier holds at this moment: the
    account does not pay for a message that the service can no longer account for. The suppression of the phone,
    the consent record and the ledger stay.
    """
    await billing.lock(unit)
    contact = await contacts.get(unit, contact_id, lock=True)
    deleted = await queries.lock_all(unit, contact_id)
    for message in await queries.list_waiting(unit, contact_id):
        await billing.refund(unit, message.account_id, message.id, message.credits, "Contact deleted before sending")
    await unit.delete(contact)
    return Erased(contact_id, deleted)

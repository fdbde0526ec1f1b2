"""Compares contacts with their records in a CRM, and merges the differences."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import delete, func, select, text, update
from sqlalchemy.dialects.postgresql import insert

from app.domain.contacts import loading
from app.domain.contacts import queries as contact_queries
from app.domain.contacts import service as contact_service
from app.domain.contacts.additions import AnyContact
from app.domain.contacts.models import Contact, ContactFields, ContactStatus
from app.domain.crm.connector import CrmContact, CrmRefused
from app.domain.crm.merging import DND, MERGED, Side, merge
from app.domain.crm.models import CrmLink, CrmPush, CrmPushKind, CrmPushStatus
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.unit_of_work import UnitOfWork

PHONE = "phone"
SOURCE = "crm"
UNSYNCHRONIZED = {"synchronize_session": False}
IS_CHECK = text(f"kind = '{CrmPushKind.check}' AND status = '{CrmPushStatus.waiting}'")


class PhoneTaken(CrmRefused):
    """Another record of the CRM, with the id `external_id`, is linked with the contact that has the `phone`."""

    def __init__(self, external_id: str, phone: str) -> None:
        super().__init__(f"The contact {external_id} of the CRM has the same phone.")
        self.external_id, self.phone = external_id, phone


@dataclass(frozen=True, slots=True)
class Compared:
    """The contact of a record, and the values to write to the CRM; none where both sides agree.

    `refused` says why a value of the record was not taken over; it is empty where all were.
    """

    contact_id: int | None
    external_id: str
    there: Mapping[str, Any]
    refused: str = ""


async def compare(unit: UnitOfWork, integration_id: int, record: CrmContact) -> Compared:
    """Take the newer values of a record of the CRM, and return the values that are newer here.

    A record belongs to the contact with its phone, which is added if there is none, unless it was deleted here. Raises
    `CrmRefused` for a record without a phone, `PhoneTaken` for a second one with a phone, and `InvalidPhone`.
    """
    if not record.phone:
        raise CrmRefused(f"The contact {record.external_id} of the CRM has no phone.")
    phone = await contact_service.normalize(unit, record.phone)
    await _lock_contacts(unit, integration_id, record.external_id, phone)
    link = await find_link(unit, integration_id, external_id=record.external_id)
    was_deleted = link is not None and link.contact_id is None
    if was_deleted and await contact_queries.find_by_phone(unit, phone) is None:
        return Compared(None, record.external_id, {})
    there = dict[str, Any]()
    if link is not None and (moved := await _moved_here(unit, link, phone)):
        contact, there[PHONE] = moved, moved.phone
    else:
        contact = await contact_service.find_or_create(unit, phone, SOURCE)
    link = await _attach(unit, integration_id, link, record, contact)
    usable, refused = check(record)
    there |= await _merge(unit, link, contact, Side(usable, record.changed_at, {}))
    if not there:
        await _end_pushes(unit, integration_id, contact.id)
    return Compared(contact.id, record.external_id, there, refused)


async def agree(unit: UnitOfWork, integration_id: int, external_id: str, values: Mapping[str, Any]) -> None:
    """Record values that the CRM has taken over."""
    link = await find_link(unit, integration_id, external_id=external_id)
    if link is not None:
        link.fields = {**link.fields, **values}
        await unit.save(link)


async def find_link(
    unit: UnitOfWork, integration_id: int, *, external_id: str | None = None, contact_id: int | None = None
) -> CrmLink | None:
    """Return the link of a record of the CRM or of a contact, locked for a change."""
    own = CrmLink.account_id == unit.actor.account_id, CrmLink.integration_id == integration_id
    which = CrmLink.external_id == external_id if external_id is not None else CrmLink.contact_id == contact_id
    return await unit.one(select(CrmLink).where(*own, which).with_for_update())


async def end_link(unit: UnitOfWork, integration_id: int, external_id: str) -> None:
    """Mark the record of a contact as deleted in the CRM; the contact stays, and is not added there again."""
    own = CrmLink.account_id == unit.actor.account_id, CrmLink.integration_id == integration_id
    ended = update(CrmLink).where(*own, CrmLink.external_id == external_id).values(is_deleted=True, fields={})
    await unit.execute(ended.execution_options(**UNSYNCHRONIZED))


async def drop_link(unit: UnitOfWork, link: CrmLink) -> None:
    """Delete a link, so that its contact is added to the CRM again."""
    await unit.execute(delete(CrmLink).where(CrmLink.id == link.id).execution_options(**UNSYNCHRONIZED))


async def add_check(unit: UnitOfWork, integration_id: int, external_id: str) -> None:
    """Add a check of a record of the CRM, or have the one that waits be done again."""
    now = unit.clock.now()
    row = {
        "account_id": unit.actor.account_id,
        "integration_id": integration_id,
        "kind": CrmPushKind.check,
        "external_id": external_id,
        "due_at": now,
        "created_at": now,
    }
    added = insert(CrmPush).values(row)
    repeated = added.on_conflict_do_update(
        index_elements=["integration_id", "external_id"],
        index_where=IS_CHECK,
        set_={"version": CrmPush.version + 1, "due_at": func.least(CrmPush.due_at, now)},
    )
    await unit.execute(repeated)


async def make_room(unit: UnitOfWork, integration_id: int, taken: PhoneTaken, phone: str) -> None:
    """Drop the link of a record whose present phone is another one, and check it anew.

    Raises `taken` where it still has the phone.
    """
    if phone and await contact_service.normalize(unit, phone) == taken.phone:
        raise taken
    link = await find_link(unit, integration_id, external_id=taken.external_id)
    if link is not None:
        await drop_link(unit, link)
        await add_check(unit, integration_id, taken.external_id)


async def add_push(unit: UnitOfWork, integration_id: int, contact_id: int) -> None:
    """Add a push of a contact, unless one waits."""
    now = unit.clock.now()
    row = {
        "account_id": unit.actor.account_id,
        "integration_id": integration_id,
        "kind": CrmPushKind.contact,
        "contact_id": contact_id,
        "due_at": now,
        "created_at": now,
    }
    await unit.execute(insert(CrmPush).values(row).on_conflict_do_nothing())


def values_of(contact: AnyContact) -> dict[str, Any]:
    """Return the values of a contact as a CRM gets them; an opt-out is do-not-disturb there."""
    is_silent = contact.dnd_sms or contact.status == ContactStatus.opted_out
    texts = {name: getattr(contact, name) for name in MERGED if name != DND}
    return {**texts, DND: is_silent}


async def _lock_contacts(unit: UnitOfWork, integration_id: int, external_id: str, phone: str) -> None:
    """Lock the contact of a record, and that with its phone, before the link, as erasures and merges do."""
    own = CrmLink.account_id == unit.actor.account_id, CrmLink.integration_id == integration_id
    which = Contact.phone == phone
    for linked in await unit.rows(select(CrmLink.contact_id).where(*own, CrmLink.external_id == external_id)):
        which |= Contact.id == linked.contact_id
    await loading.lock_many(unit, which)


async def _moved_here(unit: UnitOfWork, link: CrmLink, phone: str) -> Contact | None:
    """Return the contact of a link whose phone changed here only; None for one that follows the phone of the CRM."""
    if link.contact_id is None or link.fields.get(PHONE) != phone:
        return None
    contact = await contact_queries.get(unit, link.contact_id, lock=True)
    return contact if contact.phone != phone else None


async def _attach(
    unit: UnitOfWork, integration_id: int, link: CrmLink | None, record: CrmContact, contact: Contact
) -> CrmLink:
    """Return the link of a record with its contact; raise `PhoneTaken` where another record has the contact."""
    if link is not None and link.contact_id == contact.id:
        link.is_deleted = False
        return link
    other = await find_link(unit, integration_id, contact_id=contact.id)
    if other is not None and not other.is_deleted:
        raise PhoneTaken(other.external_id, contact.phone)
    for each in (other, link):
        if each is not None:
            await drop_link(unit, each)
    added = CrmLink(
        account_id=unit.actor.account_id,
        integration_id=integration_id,
        contact_id=contact.id,
        external_id=record.external_id,
        fields={},
    )
    await unit.save(added)
    return added


def check(record: CrmContact) -> tuple[dict[str, Any], str]:
    """Return the values of a record that a contact can have, and why another one is left out.

    So a name that is too long does not keep do-not-disturb from being taken over.
    """
    usable: dict[str, Any] = {DND: record.dnd}
    refused = ""
    for name in ("first_name", "last_name", "email"):
        try:
            usable[name] = contact_service.clean(name, getattr(record, name))
        except InvalidInput as refusal:
            refused = refused or str(refusal)
    return usable, refused


async def _merge(unit: UnitOfWork, link: CrmLink, contact: Contact, there: Side) -> Mapping[str, Any]:
    """Write the newer values of the CRM, and return the values that are newer here."""
    here = Side(values_of(contact), contact.updated_at, await _find_times(unit, link.integration_id, contact.id))
    merged = merge(link.fields, here, there, is_opted_out=contact.status == ContactStatus.opted_out)
    if merged.here:
        written = {("dnd_sms" if name == DND else name): value for name, value in merged.here.items()}
        await contact_service.update(unit, contact.id, cast("ContactFields", written))
    agreed = {name: value for name, value in merged.agreed.items() if name not in merged.there}
    link.fields = {PHONE: contact.phone, **link.fields, **agreed}
    await unit.save(link)
    return merged.there


async def _find_times(unit: UnitOfWork, integration_id: int, contact_id: int) -> dict[str, datetime]:
    """Return the times of the changes of a contact that were not pushed yet."""
    times = dict[str, datetime]()
    for changes in await unit.all(select(CrmPush.changes).where(*_waiting(integration_id, contact_id))):
        times |= {name: datetime.fromisoformat(at) for name, at in changes.items()}
    return times


async def _end_pushes(unit: UnitOfWork, integration_id: int, contact_id: int) -> None:
    """End the waiting push of a contact on which both sides agree, so that a change is not sent back to its source."""
    done = {"status": CrmPushStatus.done, "done_at": unit.clock.now(), "reason": ""}
    ended = update(CrmPush).where(*_waiting(integration_id, contact_id)).values(done)
    await unit.execute(ended.execution_options(**UNSYNCHRONIZED))


def _waiting(integration_id: int, contact_id: int) -> tuple[Any, ...]:
    return (
        CrmPush.integration_id == integration_id,
        CrmPush.contact_id == contact_id,
        CrmPush.kind == CrmPushKind.contact,
        CrmPush.status == CrmPushStatus.waiting,
    )

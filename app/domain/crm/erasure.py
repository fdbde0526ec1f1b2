"""Removes an erased contact from the links to CRMs, and from the texts that they asked for."""

from sqlalchemy import delete, update

from app.domain.contacts.models import Contact
from app.domain.crm.models import CrmLink, CrmPush, CrmSend
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import erasure as messages

UNSYNCHRONIZED = {"synchronize_session": False}


async def forget(unit: UnitOfWork, contact: Contact) -> None:
    """Empty the link of a contact and the texts to it; the id in the CRM stays, so that it is not fetched.

    Texts to it are those to its phone, and those of its messages: they went to a phone that it had before, or to a
    contact that was merged into it.
    """
    own = unit.actor.account_id
    links = update(CrmLink).where(CrmLink.account_id == own, CrmLink.contact_id == contact.id)
    await unit.execute(links.values(contact_id=None, fields={}).execution_options(**UNSYNCHRONIZED))
    pushes = delete(CrmPush).where(CrmPush.account_id == own, CrmPush.contact_id == contact.id)
    await unit.execute(pushes.execution_options(**UNSYNCHRONIZED))
    for of_contact in (CrmSend.phone == contact.phone, CrmSend.message_id.in_(messages.ids_of(unit, contact.id))):
        sends = update(CrmSend).where(CrmSend.account_id == own, of_contact, CrmSend.phone != "")
        await unit.execute(sends.values(phone="", body="").execution_options(**UNSYNCHRONIZED))

"""Removes an erased contact from bookings, and from the stored bodies of events."""

from sqlalchemy import delete, func, or_, select, update

from app.domain.contacts.models import Contact
from app.domain.integrations.models import Booking, EventStatus
from app.domain.integrations.models import IntegrationEvent as Event
from app.domain.kernel.unit_of_work import UnitOfWork

ENDING = 9
"""The number of digits by which a phone is found, however it is written: with or without the code of its country."""

SEPARATORS = " -().\u00a0"


async def forget(unit: UnitOfWork, contact: Contact) -> None:
    """Delete the bookings of a contact with their texts, and empty the events about them or with its phone or address.

    A failed event belongs to no contact: it is found by its body.
    """
    own = Booking.account_id == unit.actor.account_id, Booking.contact_id == contact.id
    bookings = await unit.all(select(Booking.id).where(*own))
    events = (
        Event.account_id == unit.actor.account_id,
        (Event.contact_id == contact.id) | Event.booking_id.in_(bookings),
    )
    values = {"body": "", "contact_id": None, "booking_id": None, "result": "The contact was deleted."}
    unsynchronized = {"synchronize_session": False}
    await unit.execute(update(Event).where(*events).values(values).execution_options(**unsynchronized))
    failed = Event.account_id == unit.actor.account_id, Event.status == EventStatus.failed, Event.body != ""
    named = [func.strpos(func.translate(Event.body, SEPARATORS, ""), contact.phone[-ENDING:]) > 0]
    named += [func.strpos(func.lower(Event.body), contact.email.lower()) > 0] if contact.email else []
    emptied = update(Event).where(*failed, or_(*named)).values(values)
    await unit.execute(emptied.execution_options(**unsynchronized))
    await unit.execute(delete(Booking).where(Booking.id.in_(bookings)).execution_options(**unsynchronized))

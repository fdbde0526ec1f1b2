"""Removes an erased contact from bookings, and from the stored bodies of events."""

from sqlalchemy import delete, select, update

from app.domain.integrations.models import Booking
from app.domain.integrations.models import IntegrationEvent as Event
from app.domain.kernel.unit_of_work import UnitOfWork


async def forget(unit: UnitOfWork, contact_id: int) -> None:
    """Delete the bookings of a contact with their texts, and empty the events that were about them."""
    own = Booking.account_id == unit.actor.account_id, Booking.contact_id == contact_id
    bookings = await unit.all(select(Booking.id).where(*own))
    events = (
        Event.account_id == unit.actor.account_id,
        (Event.contact_id == contact_id) | Event.booking_id.in_(bookings),
    )
    values = {"body": "", "contact_id": None, "booking_id": None, "result": "The contact was deleted."}
    unsynchronized = {"synchronize_session": False}
    await unit.execute(update(Event).where(*events).values(values).execution_options(**unsynchronized))
    await unit.execute(delete(Booking).where(Booking.id.in_(bookings)).execution_options(**unsynchronized))

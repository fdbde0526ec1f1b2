"""Queries for integrations, their events, and bookings."""

from collections.abc import Sequence

from sqlalchemy import Select, func, select

from app.domain.integrations.errors import IntegrationRemoved
from app.domain.integrations.models import Booking, BookingStatus, BookingText, EventStatus, Integration
from app.domain.integrations.models import IntegrationEvent as Event
from app.domain.kernel import records
from app.domain.kernel.errors import NotFound
from app.domain.kernel.histories import Place, latest
from app.domain.kernel.paging import Order, Page, Window, fetch
from app.domain.kernel.unit_of_work import UnitOfWork


async def list_own(unit: UnitOfWork) -> Sequence[Integration]:
    """Return the integrations of the account, the oldest first."""
    return await unit.all(_own(unit).order_by(Integration.id))


async def count_own(unit: UnitOfWork) -> int:
    """Return the number of the account's integrations."""
    return await unit.one(select(func.count()).select_from(_own(unit).subquery())) or 0


async def get(unit: UnitOfWork, id: int, *, lock: bool = False) -> Integration:
    """Return an integration of the account; raise `NotFound`."""
    statement = _own(unit).where(Integration.id == id)
    found = await unit.one(statement.with_for_update() if lock else statement)
    if found is None:
        raise NotFound(kind="integration", id=id)
    return found


async def keep(unit: UnitOfWork, id: int) -> None:
    """Keep an integration of the account from being removed until the transaction ends; raise `IntegrationRemoved`."""
    locked = _own(unit).where(Integration.id == id).with_only_columns(Integration.id)
    if await unit.one(locked.with_for_update(read=True, key_share=True)) is None:
        raise IntegrationRemoved


async def list_bookings_of_contact(
    unit: UnitOfWork, contact_id: int, before: Place | None, limit: int
) -> Sequence[Booking]:
    """Return the latest bookings of a contact before a place, by the time at which they arrived."""
    own = Booking.account_id == unit.actor.account_id, Booking.contact_id == contact_id, Booking.is_known
    return await unit.all(latest(select(Booking).where(*own), Booking.created_at, Booking.id, before, limit))


async def find_events(
    unit: UnitOfWork, integration_id: int | None, status: EventStatus | None, window: Window
) -> Page[Event]:
    """Return a page of the events of the account, the newest first."""
    statement = select(Event).where(Event.account_id == unit.actor.account_id)
    if integration_id is not None:
        statement = statement.where(Event.integration_id == integration_id)
    if status is not None:
        statement = statement.where(Event.status == status)
    return await fetch(unit, statement, Order((Event.id,)), window)


async def lock_event(unit: UnitOfWork, id: int) -> Event:
    """Return an event of the account, locked for a change; raise `NotFound`."""
    own = Event.account_id == unit.actor.account_id
    found = await unit.one(select(Event).where(own, Event.id == id).with_for_update())
    if found is None:
        raise NotFound(kind="event", id=id)
    return found


async def find_bookings(
    unit: UnitOfWork, contact_id: int | None, status: BookingStatus | None, window: Window
) -> Page[Booking]:
    """Return a page of the bookings of the account that have a time, the newest first."""
    statement = select(Booking).where(Booking.account_id == unit.actor.account_id, Booking.starts_at.is_not(None))
    if contact_id is not None:
        statement = statement.where(Booking.contact_id == contact_id)
    if status is not None:
        statement = statement.where(Booking.status == status)
    return await fetch(unit, statement, Order((Booking.id,)), window)


async def get_booking(unit: UnitOfWork, id: int) -> Booking:
    """Return a booking of the account; raise `NotFound`."""
    found = await unit.one(select(Booking).where(Booking.account_id == unit.actor.account_id, Booking.id == id))
    if found is None:
        raise NotFound(kind="booking", id=id)
    return found


async def find_texts(unit: UnitOfWork, booking_ids: Sequence[int]) -> Sequence[BookingText]:
    """Return the texts of bookings in the order in which they are due."""
    own = BookingText.account_id == unit.actor.account_id, records.among(BookingText.booking_id, booking_ids)
    return await unit.all(select(BookingText).where(*own).order_by(BookingText.due_at, BookingText.id))


def _own(unit: UnitOfWork) -> Select[Integration]:
    return select(Integration).where(Integration.account_id == unit.actor.account_id)

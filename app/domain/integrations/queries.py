"""Queries for integrations, their events, and bookings."""

from collections.abc import Sequence
from typing import TypeVar

from sqlalchemy import Select, func, select
from sqlalchemy.orm import InstrumentedAttribute

from app.domain.integrations.errors import IntegrationRemoved
from app.domain.integrations.models import (
    Booking,
    BookingStatus,
    BookingText,
    EventStatus,
    Integration,
    IntegrationStatus,
)
from app.domain.integrations.models import IntegrationEvent as Event
from app.domain.kernel import records
from app.domain.kernel.errors import NotFound
from app.domain.kernel.histories import Place, latest
from app.domain.kernel.paging import Order, Page, Window, fetch
from app.domain.kernel.unit_of_work import UnitOfWork

T = TypeVar("T")


async def list_own(unit: UnitOfWork) -> Sequence[Integration]:
    """Return the integrations of the account that are not removed, the oldest first."""
    return await unit.all(_own(unit).order_by(Integration.id))


async def count_own(unit: UnitOfWork) -> int:
    """Return the number of the account's integrations that are not removed."""
    return await unit.one(select(func.count()).select_from(_own(unit).subquery())) or 0


async def get(unit: UnitOfWork, id: int, *, lock: bool = False) -> Integration:
    """Return an integration of the account; raise `NotFound`, also for a removed one."""
    statement = _own(unit).where(Integration.id == id)
    found = await unit.one(statement.with_for_update() if lock else statement)
    if found is None:
        raise NotFound(kind="integration", id=id)
    return found


async def lock_at(unit: UnitOfWork, kind: str, address: str) -> Integration | None:
    """Return the account's integration of a kind at an address, locked for a change; None if there is none."""
    return await unit.one(_own(unit).where(Integration.kind == kind, Integration.address == address).with_for_update())


async def keep(unit: UnitOfWork, id: int) -> None:
    """Keep an integration of the account from being removed until the transaction ends; raise `IntegrationRemoved`."""
    locked = _own(unit).where(Integration.id == id).with_only_columns(Integration.id)
    if await unit.one(locked.with_for_update(read=True, key_share=True)) is None:
        raise IntegrationRemoved


async def leave_out_removed(
    unit: UnitOfWork, statement: Select[T], integration_id: InstrumentedAttribute[int]
) -> Select[T]:
    """Return a query without the rows of removed integrations, which are about to be deleted."""
    removed = Integration.account_id == unit.actor.account_id, Integration.status == IntegrationStatus.removed
    ids = await unit.all(select(Integration.id).where(*removed))
    return statement.where(integration_id.not_in(ids)) if ids else statement


async def list_bookings_of_contact(
    unit: UnitOfWork, contact_id: int, before: Place | None, limit: int
) -> Sequence[Booking]:
    """Return the latest bookings of a contact before a place, by the time at which they arrived."""
    own = Booking.account_id == unit.actor.account_id, Booking.contact_id == contact_id, Booking.is_known
    statement = await leave_out_removed(unit, select(Booking).where(*own), Booking.integration_id)
    return await unit.all(latest(statement, Booking.created_at, Booking.id, before, limit))


async def find_events(
    unit: UnitOfWork, integration_id: int | None, status: EventStatus | None, window: Window
) -> Page[Event]:
    """Return a page of the events of the account, the newest first."""
    statement = select(Event).where(Event.account_id == unit.actor.account_id)
    if integration_id is not None:
        statement = statement.where(Event.integration_id == integration_id)
    if status is not None:
        statement = statement.where(Event.status == status)
    statement = await leave_out_removed(unit, statement, Event.integration_id)
    return await fetch(unit, statement, Order((Event.id,)), window)


async def lock_event(unit: UnitOfWork, id: int) -> Event:
    """Return an event of the account, locked for a change; raise `NotFound`."""
    own = select(Event).where(Event.account_id == unit.actor.account_id, Event.id == id)
    found = await unit.one((await leave_out_removed(unit, own, Event.integration_id)).with_for_update())
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
    statement = await leave_out_removed(unit, statement, Booking.integration_id)
    return await fetch(unit, statement, Order((Booking.id,)), window)


async def get_booking(unit: UnitOfWork, id: int) -> Booking:
    """Return a booking of the account; raise `NotFound`."""
    own = select(Booking).where(Booking.account_id == unit.actor.account_id, Booking.id == id)
    found = await unit.one(await leave_out_removed(unit, own, Booking.integration_id))
    if found is None:
        raise NotFound(kind="booking", id=id)
    return found


async def find_texts(unit: UnitOfWork, booking_ids: Sequence[int]) -> Sequence[BookingText]:
    """Return the texts of bookings in the order in which they are due."""
    own = BookingText.account_id == unit.actor.account_id, records.among(BookingText.booking_id, booking_ids)
    return await unit.all(select(BookingText).where(*own).order_by(BookingText.due_at, BookingText.id))


def _own(unit: UnitOfWork) -> Select[Integration]:
    own = Integration.account_id == unit.actor.account_id
    return select(Integration).where(own, Integration.status != IntegrationStatus.removed)

"""Removes an erased contact from bookings, and from the stored bodies of events."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, delete, false, func, select, update

from app.domain.contacts.models import Contact
from app.domain.integrations.models import (
    Booking,
    BookingText,
    BookingTextStatus,
    EventStatus,
    Integration,
    IntegrationStatus,
)
from app.domain.integrations.models import IntegrationEvent as Event
from app.domain.kernel.unit_of_work import UnitOfWork

ENDING = 9
"""The number of digits by which a phone is found, however it is written: with or without the code of its country."""

SHORTEST = 7
"""The length of the shortest phone in E.164; a contact of a sender without a number may have a shorter one."""

SEPARATORS = " -().\u00a0"

UNSYNCHRONIZED: dict[str, Any] = {"synchronize_session": False}
"""The unit does not read the rows that these statements change."""


async def lock(unit: UnitOfWork, *contact_ids: int) -> None:
    """Lock the bookings of contacts after their texts, before the contacts: events about them are applied so.

    Those of removed integrations have no events: they are deleted before their texts.
    """
    kept = Booking.integration_id.in_(select(Integration.id).where(Integration.status != IntegrationStatus.removed))
    bookings = await _find_bookings(unit, contact_ids, kept)
    if bookings:
        texts = select(BookingText.id).where(BookingText.booking_id.in_(bookings))
        waiting = texts.where(BookingText.status == BookingTextStatus.waiting)
        await unit.all(waiting.order_by(BookingText.id).with_for_update())
        await unit.all(select(Booking.id).where(Booking.id.in_(bookings)).order_by(Booking.id).with_for_update())


async def forget(unit: UnitOfWork, contact: Contact) -> None:
    """Delete the bookings of a contact with their texts, and empty the events about them or with its phone or address.

    Events that failed or wait belong to no contact: they are found by their bodies.
    """
    bookings = await _find_bookings(unit, [contact.id])
    await _empty(unit, (Event.contact_id == contact.id) | Event.booking_id.in_(bookings))
    has_phone = _has_phone(contact.phone)
    has_email = func.strpos(func.lower(Event.body), contact.email.lower()) > 0 if contact.email else false()
    await _empty(unit, Event.status == EventStatus.failed, Event.body != "", has_phone | has_email)
    await _ignore(unit, has_phone)
    await unit.execute(delete(Booking).where(Booking.id.in_(bookings)).execution_options(**UNSYNCHRONIZED))


async def _find_bookings(unit: UnitOfWork, contact_ids: Sequence[int], *which: ColumnElement[bool]) -> Sequence[int]:
    own = Booking.account_id == unit.actor.account_id, Booking.contact_id.in_(contact_ids), *which
    return await unit.all(select(Booking.id).where(*own))


def _has_phone(phone: str) -> ColumnElement[bool]:
    """Return the condition that a body has a phone; a short code or a name may be a part of any body."""
    if len(phone) < SHORTEST or not phone.startswith("+"):
        return false()
    return func.strpos(func.translate(Event.body, SEPARATORS, ""), phone[-ENDING:]) > 0


async def _ignore(unit: UnitOfWork, has_phone: ColumnElement[bool]) -> None:
    """Empty the waiting events with a phone, which would add the contact again; they are not applied.

    An address alone adds no contact, and that of a host is in the events of all guests.
    """
    ignored = {"status": EventStatus.ignored, "applied_at": unit.clock.now()}
    await _empty(unit, Event.status == EventStatus.waiting, has_phone, **ignored)


async def _empty(unit: UnitOfWork, *which: ColumnElement[bool], **changes: Any) -> None:
    values = {"body": "", "contact_id": None, "booking_id": None, "result": "The contact was deleted.", **changes}
    emptied = update(Event).where(Event.account_id == unit.actor.account_id, *which).values(values)
    await unit.execute(emptied.execution_options(**UNSYNCHRONIZED))

"""The texts about bookings: their defaults, placeholders and times."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from app.domain.integrations.models import Booking, BookingTextKind
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.placeholders import Link
from app.domain.kernel.time_zones import ZoneInfo
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.quiet_hours.zones import find_place
from app.domain.templates import checking, vocabulary

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
LEAST_NOTICE = timedelta(minutes=15)
"""The time before the beginning after which no reminder leaves any more."""

_AT = "{booking.start:date(EEE d MMM 'at' h:mm a)} {booking.time_zone}"

DEFAULTS: Mapping[BookingTextKind, str] = {
    BookingTextKind.confirmation: (
        "{company_name}: your {booking.title|appointment} is booked for " + _AT + ". Reply STOP to opt out."
    ),
    BookingTextKind.reminder_day: "{company_name}: a reminder of your {booking.title|appointment} on " + _AT + ".",
    BookingTextKind.reminder_hour: "{company_name}: your {booking.title|appointment} begins in an hour, " + _AT + ".",
    BookingTextKind.rescheduled: "{company_name}: your {booking.title|appointment} is now on " + _AT + ".",
    BookingTextKind.canceled: "{company_name}: your {booking.title|appointment} on " + _AT + " is canceled.",
}
"""The texts of an integration that its account has not written itself. There is none for a no-show."""


def find_zone(booking: Booking, account_zone: str | None) -> ZoneInfo:
    """Return the attendee's zone: as the tool tells it, or else that of the phone."""
    if booking.time_zone:
        return ZoneInfo(booking.time_zone)
    zones = find_place(booking.phone, None, account_zone).zones if booking.phone else ()
    return ZoneInfo(zones[0] if zones else account_zone or "UTC")


def values(booking: Booking, account_zone: str | None) -> dict[str, object]:
    """Return the values of the placeholders of a booking that has a time."""
    assert booking.starts_at
    zone = find_zone(booking, account_zone)
    start = booking.starts_at.astimezone(zone)
    return {
        "booking.title": booking.title,
        "booking.start": start,
        "booking.end": booking.ends_at and booking.ends_at.astimezone(zone),
        "booking.time_zone": _short_name(start),
        "booking.name": booking.name,
        "booking.location": Link(booking.location) if "://" in booking.location else booking.location,
        "booking.cancel_url": Link(booking.cancel_url),
        "booking.reschedule_url": Link(booking.reschedule_url),
    }


def due_at(kind: BookingTextKind, starts_at: datetime, zone: ZoneInfo, now: datetime) -> datetime:
    """Return when a text is due: a reminder of the day at the same local time of the day before, others now."""
    match kind:
        case BookingTextKind.reminder_day:
            local = starts_at.astimezone(zone).replace(tzinfo=None) - DAY
            return local.replace(tzinfo=zone).astimezone(now.tzinfo)
        case BookingTextKind.reminder_hour:
            return starts_at - HOUR
        case _:
            return now


def expires_at(kind: BookingTextKind, starts_at: datetime, due_at: datetime) -> datetime:
    """Return the time after which a text is of no use."""
    match kind:
        case BookingTextKind.reminder_day:
            return starts_at - 2 * HOUR
        case BookingTextKind.reminder_hour:
            return starts_at - LEAST_NOTICE
        case BookingTextKind.no_show:
            return due_at + DAY
        case _:
            return starts_at


async def check(unit: UnitOfWork, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return texts by their kinds; an empty one is not sent. Raise `InvalidInput` or `MessageTooLong`."""
    known = await vocabulary.find(unit, of_bookings=True)
    for kind, body in given.items():
        if kind not in set(BookingTextKind):
            raise InvalidInput(reason=f"texts has an unknown kind: {kind}.", field="texts")
        if body.strip():
            checking.check(body, known, f"texts.{kind}")
    return {kind: body.strip() and body for kind, body in given.items()}


def find(texts: Mapping[str, Any], kind: BookingTextKind) -> str:
    """Return the text of a kind; empty where none is sent."""
    return texts.get(kind, DEFAULTS.get(kind, ""))


def _short_name(start: datetime) -> str:
    """Return the abbreviation of a zone, or its distance from UTC where it has none."""
    name = start.tzname() or ""
    return f"UTC{name[:3]}{':' + name[3:] if name[3:] else ''}" if name[:1] in "+-" and name else name

"""Applies changes to bookings, in any order of their arrival.

Facts about a booking are only added, never removed: that it is known, is replaced, was canceled. Of the facts about its
attendance the latest one counts. So its state, and the texts that follow from it, do not depend on the order.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast

from sqlalchemy import select, update

from app.domain.consent import service as consent
from app.domain.consent.models import ConsentKind
from app.domain.consent.service import Evidence
from app.domain.contacts import service as contact_service
from app.domain.contacts.models import Contact, ContactFields, TimeZoneSource
from app.domain.integrations import planning
from app.domain.integrations.models import Booking, BookingStatus, Integration
from app.domain.integrations.models import IntegrationEvent as Event
from app.domain.integrations.named import Named
from app.domain.integrations.scheduling import Booked, Canceled, Change, Details, NoShow
from app.domain.kernel import time_zones
from app.domain.kernel.errors import DomainError, InvalidInput
from app.domain.kernel.phone import InvalidPhone
from app.domain.kernel.unit_of_work import UnitOfWork

HOLD_BACK = timedelta(minutes=15)
"""The time for which a text about a booking waits, while a later one of the same person may have replaced it."""

CONSENT_METHOD = "booking_form"


@dataclass(frozen=True, slots=True)
class Applied:
    """The result of an event: a sentence, and the booking and the contact that it is about.

    The body of the event is kept for a time where `keeps_body`, and until the contact is erased.
    """

    result: str
    booking_id: int | None = None
    contact_id: int | None = None
    keeps_body: bool = True


@dataclass(frozen=True, slots=True)
class Touched:
    """A booking that a change is about, with the sentence why nothing follows from it, if nothing does.

    `may_be_replaced` is true where a later booking of the person may have replaced it.
    """

    booking: Booking
    note: str = ""
    may_be_replaced: bool = False


async def apply(unit: UnitOfWork, integration: Integration, changes: Sequence[Change]) -> Applied:
    """Apply changes under the lock of their integration, and plan the texts that follow from them.

    Returns the results joined, with the booking and the contact of the first one that has a contact: the event is
    erased with it. Results without a contact count only where no other has one.
    """
    named = await Named.read(unit, integration, changes)
    touched = [await _apply(named, change) for change in changes]
    told = await _plan(named, touched)
    results = [
        each.note or f"Booking {each.booking.id} is {each.booking.status}. {told[each.booking.id]}" for each in touched
    ]
    shown = [place for place, each in enumerate(touched) if each.booking.contact_id] or range(len(touched))
    said, first = dict.fromkeys(results[place] for place in shown), touched[shown[0]].booking
    return Applied(" ".join(said), first.id, first.contact_id)


async def _apply(named: Named, change: Change) -> Touched:
    match change:
        case Booked():
            booking = await _book(named, change)
        case Canceled():
            booking = await _cancel(named, change)
        case NoShow():
            return await _note_attendance(named, change)
    if booking.contact_id is None:
        _leave_out_person(booking)
    return Touched(booking, may_be_replaced=True)


async def _plan(named: Named, touched: Sequence[Touched]) -> Mapping[int, str]:
    """Save the bookings, and plan their texts; return a sentence about each."""
    unit, changed = named.unit, [each for each in touched if not each.note]
    await unit.save(*(each.booking for each in touched))
    await planning.cancel(unit, named.moved, BookingStatus.moved)
    hold_backs = await _find_hold_backs(named, [each.booking for each in changed if each.may_be_replaced])
    return await planning.plan(unit, named.integration, [each.booking for each in changed], hold_backs)


async def _book(named: Named, change: Booked) -> Booking:
    booking = await named.find_or_add(change.external_id, change.made_at)
    if not booking.is_known or change.made_at >= booking.made_at:
        was, known = booking.starts_at, booking.is_known
        await _take(named.unit, named.integration, booking, change.details)
        booking.is_moved |= change.is_moved or (known and was != booking.starts_at)
        booking.made_at = change.made_at
    booking.is_known = True
    await _take_attendance(named, booking, change.person_id)
    await _link(named, booking, change)
    return booking


async def _cancel(named: Named, change: Canceled) -> Booking:
    booking = await named.find_or_add(change.external_id, change.made_at)
    if change.details and not booking.is_known:
        await _take(named.unit, named.integration, booking, change.details)
    booking.is_known |= change.tells_origin
    await _link(named, booking, change)
    if change.replaced_by:
        new = await named.find_or_add(change.replaced_by, change.made_at)
        new.replaces, new.is_moved = booking.external_id, True
    if booking.status != BookingStatus.moved:
        booking.status = BookingStatus.moved if change.is_moved or change.replaced_by else BookingStatus.canceled
    booking.updated_at = named.unit.clock.now()
    return booking


async def _note_attendance(named: Named, change: NoShow) -> Touched:
    """Apply the attendance that a tool reports; it is kept for a booking that has not arrived yet."""
    booking = named.find(change.external_id)
    if booking is None or (change.person_id and booking.starts_at is None):
        id = change.person_id or change.external_id
        booking = await named.find_or_add(id, change.told_at)
    if change.email and booking.email and change.email.lower() != booking.email.lower():
        return Touched(booking, f"Another attendee of booking {booking.id}.")
    is_of_person = booking.external_id == change.person_id
    if change.email and booking.starts_at and not booking.email and not is_of_person:
        return Touched(booking, f"The attendee of booking {booking.id} is not known.")
    status = BookingStatus.no_show if change.is_missing else BookingStatus.booked
    _set_attendance(named, booking, change.told_at, status)
    return Touched(booking)


def _set_attendance(named: Named, booking: Booking, told_at: datetime, status: str) -> None:
    """Note the attendance of a booking, unless it is older than the known one."""
    if booking.attendance_at is None or told_at >= booking.attendance_at:
        booking.attendance_at, booking.updated_at = told_at, named.unit.clock.now()
        if booking.status in (BookingStatus.booked, BookingStatus.no_show):
            booking.status = status


async def _take_attendance(named: Named, booking: Booking, person_id: str) -> None:
    """Take over what arrived about the attendance before its booking, with the events that told it."""
    told = named.find(person_id) if person_id else None
    if told is None or told.starts_at is not None:
        return
    if told.attendance_at is not None:
        _set_attendance(named, booking, told.attendance_at, told.status)
    about = Event.account_id == booking.account_id, Event.booking_id == told.id
    values = {"booking_id": booking.id, "contact_id": booking.contact_id}
    await named.unit.execute(update(Event).where(*about).values(values).execution_options(synchronize_session=False))
    await named.delete(told)


async def _link(named: Named, booking: Booking, change: Booked | Canceled) -> None:
    """Mark the booking that another one replaces; it may not have arrived yet."""
    if not change.replaces:
        return
    booking.replaces, booking.is_moved = change.replaces, True
    old = await named.find_or_add(change.replaces, change.made_at)
    is_new = old.starts_at is None and not old.email and not old.phone
    if is_new and booking.contact_id:  # nothing of it has arrived; the person is the same
        old.email, old.phone, old.contact_id = booking.email, booking.phone, booking.contact_id
        old.made_at = change.made_at
    if isinstance(change, Booked) and change.details.keeps_person and not booking.contact_id:
        booking.phone, booking.contact_id, booking.consent = old.phone, old.contact_id, old.consent
    old.status, old.updated_at = BookingStatus.moved, named.unit.clock.now()
    named.moved.append(old.id)


async def _take(unit: UnitOfWork, integration: Integration, booking: Booking, details: Details) -> None:
    """Copy the details of a booking, add or complete its contact, and record the consent that the form holds."""
    booking.starts_at, booking.ends_at = details.starts_at, details.ends_at
    booking.name = details.name or f"{details.first_name} {details.last_name}".strip()
    booking.email, booking.title = details.email or details.alias, details.title
    booking.location = details.location
    booking.cancel_url, booking.reschedule_url = details.cancel_url, details.reschedule_url
    booking.time_zone = _zone(details.time_zone)
    booking.updated_at = unit.clock.now()
    if details.keeps_person:
        return
    contact = await _find_contact(unit, integration, booking, details)
    if contact is None:
        booking.phone = ""
        return
    booking.phone, booking.contact_id = contact.phone, contact.id
    if details.consent and details.consent != booking.consent:
        booking.consent = details.consent
        evidence = Evidence(CONSENT_METHOD, details.consent, source=f"{integration.kind}: {booking.external_id}"[:500])
        await consent.record(unit, contact.phone, ConsentKind.opt_in, evidence)


def _leave_out_person(booking: Booking) -> None:
    """Empty the personal fields of a booking without a contact: an erasure would not find it, and no text needs it."""
    if booking.name and booking.name in booking.title:
        booking.title = ""
    booking.name = booking.email = booking.location = booking.cancel_url = booking.reschedule_url = ""


async def _find_contact(
    unit: UnitOfWork, integration: Integration, booking: Booking, details: Details
) -> Contact | None:
    """Return the contact with the phone of a booking, with the names, address and zone that it lacked."""
    try:
        phone = await contact_service.normalize(unit, details.phone) if details.phone else None
    except InvalidPhone:
        return None
    if phone is None:
        return None
    first, _, last = booking.name.partition(" ")
    given = {"first_name": details.first_name or first, "last_name": details.last_name or last.strip()}
    given = {name: value[: contact_service.MAX_NAME] for name, value in given.items()} | {"email": _email(details)}
    contact = await contact_service.find_or_create(unit, phone, integration.kind)
    fields = cast("ContactFields", {name: value for name, value in given.items() if not getattr(contact, name)})
    if contact.first_name or contact.last_name:
        fields = cast("ContactFields", {"email": fields["email"]} if "email" in fields else {})
    if booking.time_zone and contact.time_zone != booking.time_zone:
        fields["time_zone"], fields["time_zone_source"] = booking.time_zone, TimeZoneSource.booking
    return await contact_service.update(unit, contact.id, fields) if fields else contact


def _email(details: Details) -> str:
    try:
        return contact_service.clean_email(details.email)
    except DomainError:
        return ""


def _zone(name: str) -> str:
    try:
        return time_zones.checked(name) if name else ""
    except InvalidInput:
        return ""


async def _find_hold_backs(named: Named, bookings: Sequence[Booking]) -> dict[int, timedelta]:
    """Return how long the texts about bookings wait: for the missing link to a later one of the same person, if any.

    A later booking whose origin is not known yet may have replaced such a booking, whose event then came late.
    """
    emails, phones = {each.email for each in bookings} - {""}, {each.phone for each in bookings} - {""}
    later = select(Booking.id, Booking.email, Booking.phone, Booking.made_at).where(
        Booking.integration_id == named.integration.id,
        ~Booking.is_known,
        Booking.replaces == "",
        Booking.created_at > named.unit.clock.now() - HOLD_BACK,
        planning.any_of(Booking.email, list(emails)) | planning.any_of(Booking.phone, list(phones)),
    )
    if not emails and not phones:
        return {}
    of_person = defaultdict[str, list[tuple[int, datetime]]](list)
    for row in await named.unit.rows(later):
        for key in (row.email, row.phone):
            of_person[key].append((row.id, row.made_at))
    return {each.id: HOLD_BACK for each in bookings if _may_be_replaced(each, of_person)}


def _may_be_replaced(booking: Booking, of_person: Mapping[str, Sequence[tuple[int, datetime]]]) -> bool:
    later = [each for key in {booking.email, booking.phone} - {""} for each in of_person.get(key, [])]
    return any(id != booking.id and made_at > booking.made_at for id, made_at in later)

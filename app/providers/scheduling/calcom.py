"""Cal.com: webhooks signed without a time, whose payload its users may change; a moved booking has a new uid.

The people in the seats of an event share its uid. Of them each has a booking of their own here, whose id ends with the
hash of the e-mail address: the address itself would outlive the erasure of its contact. An event of a new seat lists
everybody, and has the responses of the new person; one of a canceled seat lists its person alone; one of a canceled
event lists everybody.

A move that needs confirmation ends the former booking at once, and is told as a request for the new one.
"""

import hmac
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from app.domain.integrations.scheduling import (
    BadSignature,
    Booked,
    Canceled,
    Change,
    Delivery,
    Details,
    NoShow,
    Notice,
    Unreadable,
)
from app.providers import vendor_json as fields

HEADER = "x-cal-signature-256"
SMS_FIELD = "smsReminderNumber"
PHONES = ("attendeePhoneNumber", "phone")
MAX_ATTENDEES = 1000
"""The most seats that an event of Cal.com can have."""
MADE_UP = "@sms.cal.com"
"""The end of the addresses that Cal.com makes of the phones of attendees who give no address."""


@dataclass(frozen=True, slots=True)
class CalCom:
    """The webhooks of Cal.com (cal.com/docs, Webhooks)."""

    name: str = "calcom"
    title: str = "Cal.com"

    def verify(self, secret: str, delivery: Delivery, now: datetime) -> None:
        """Check the hex HMAC-SHA256 of the body. It has no time: repetitions are recognized by the event's key."""
        expected = hmac.new(secret.encode(), delivery.body, sha256).hexdigest()
        if not hmac.compare_digest(
            expected.encode(), delivery.headers.get(HEADER, "").strip().encode(errors="replace")
        ):
            raise BadSignature("The signature does not fit.")

    def read(self, body: bytes, consent_question: str) -> Notice:
        """Return the changes of an event to its booking."""
        try:
            return _read(fields.load(body), consent_question)
        except fields.NotThere as problem:
            raise Unreadable(str(problem)) from None


def _read(event: Mapping[str, Any], question: str) -> Notice:
    name, payload = fields.needed(event, "triggerEvent"), fields.child(event, "payload") or event
    uid, at = _uid(payload), fields.text(event, "createdAt")
    made_at = fields.optional_instant(event, "createdAt") or datetime.fromtimestamp(0, UTC)
    people = list(map(_email, _attendees(payload)))
    key = f"{name} {uid} {at} {' '.join(people)}".strip()
    changes = tuple(_changes(name, payload, question, made_at))
    return Notice(name, changes, key if uid and at else "", is_shared=len(set(people)) > 1)


def _attendees(payload: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = fields.children(payload, "attendees")
    if len(found) > MAX_ATTENDEES:
        raise fields.NotThere(f"There are more than {MAX_ATTENDEES} attendees.")
    return found


def _changes(name: str, payload: Mapping[str, Any], question: str, made_at: datetime) -> Iterator[Change]:
    match name:
        case "BOOKING_CREATED" | "BOOKING_RESCHEDULED":
            is_moved = bool(_old(payload)) or name == "BOOKING_RESCHEDULED"
            writer = _writer(payload)
            for each in _booking(payload, is_moved=is_moved):
                details, id = _details(payload, question, each, is_writer=each == writer), _id(payload, each)
                email = (details.email or details.alias).lower()
                person = _seat(id, email) if email and not _has_seats(payload) else ""
                yield Booked(id, made_at, details, _old_id(payload, each), is_moved, person)
        case "BOOKING_REQUESTED" if _old(payload):
            for each in _booking(payload, is_moved=True):
                old, new = _old_id(payload, each), _id(payload, each)
                yield Canceled(old, made_at, replaced_by=new, is_moved=True)
        case "BOOKING_CANCELLED" | "BOOKING_REJECTED":
            yield from _ended(payload, question, made_at)
        case "BOOKING_NO_SHOW_UPDATED":
            yield from _attendance(payload, made_at)
        case _:
            return


def _ended(payload: Mapping[str, Any], question: str, made_at: datetime) -> Iterator[Change]:
    """Yield the canceled bookings: of the seats that the event lists, or the only one."""
    seated = _seated(payload)
    for each in seated:
        yield Canceled(_id(payload, each), made_at, None, _old_id(payload, each))
    if not seated:
        person = _booker(payload)
        has_time = bool(fields.text(payload, "startTime"))
        details = _details(payload, question, person, is_writer=person == _writer(payload)) if has_time else None
        yield Canceled(_id(payload, person), made_at, details, _old(payload))


def _attendance(payload: Mapping[str, Any], told_at: datetime) -> Iterator[Change]:
    """Yield the attendances. An event does not distinguish persons with a seat, bookers and guests."""
    uid = _needed_uid(payload)
    told = {_email(each): bool(each["noShow"]) for each in fields.children(payload, "attendees") if _tells(each)}
    for email, is_missing in told.items():
        yield NoShow(uid, told_at, is_missing, email, _seat(uid, email) if email else "")


def _tells(attendee: Mapping[str, Any]) -> bool:
    return isinstance(attendee.get("noShow"), bool)


def _seated(payload: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the attendees of an event with seats by their addresses, each once; none of any other event."""
    if not _has_seats(payload):
        return []
    listed = reversed(fields.children(payload, "attendees"))
    return [*reversed({email: each for each in listed if (email := _email(each))}.values())]


def _has_seats(payload: Mapping[str, Any]) -> bool:
    return fields.text(payload, "seatsPerTimeSlot") not in ("", "0", "false")


def _writer(payload: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the attendee who gave the responses: in an event with seats never another one than they name."""
    booker = _booker(payload)
    email = _responses_email(payload) if _has_seats(payload) else ""
    return booker if not email or _email(booker) == email else None


def _responses_email(payload: Mapping[str, Any]) -> str:
    return _answer(fields.child(payload, "responses"), "email").lower()


def _booker(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the attendee who gave the responses: by their e-mail address, or else the first one."""
    attendees = fields.children(payload, "attendees")
    email = _responses_email(payload)
    return next((each for each in attendees if email and _email(each) == email), next(iter(attendees), {}))


def _booking(payload: Mapping[str, Any], *, is_moved: bool) -> list[Mapping[str, Any]]:
    """Return the attendees who book, or are moved: everybody where the organizer moves an event with seats.

    A person in a seat who moves gets a seat of another event; the organizer may also move the event under its uid.
    """
    seated, mover = _seated(payload), fields.text(payload, "rescheduledBy").lower()
    is_of_organizer = is_moved and (mover not in map(_email, seated) if mover else not _old(payload))
    return seated if seated and is_of_organizer else [_booker(payload)]


def _id(payload: Mapping[str, Any], attendee: Mapping[str, Any]) -> str:
    """Return the id of the booking of an attendee; raise `NotThere` where it is not told whose seat it is."""
    uid = _needed_uid(payload)
    if not _has_seats(payload):
        return uid
    if not _email(attendee):
        raise fields.NotThere("The field attendees.email is missing.")
    return _seat(uid, _email(attendee))


def _old_id(payload: Mapping[str, Any], attendee: Mapping[str, Any]) -> str:
    old = _old(payload)
    return _seat(old, _email(attendee)) if old and _has_seats(payload) else old


def _seat(uid: str, email: str) -> str:
    """Return the id of the booking of one person of an event with seats."""
    return f"{uid}#{sha256(email.encode()).hexdigest()[:16]}"


def _email(attendee: Mapping[str, Any]) -> str:
    return fields.text(attendee, "email").lower()


def _uid(payload: Mapping[str, Any]) -> str:
    return fields.identifier(payload, "uid") or fields.identifier(payload, "bookingUid")


def _needed_uid(payload: Mapping[str, Any]) -> str:
    return _uid(payload) or fields.needed(payload, "uid")


def _old(payload: Mapping[str, Any]) -> str:
    old = fields.identifier(payload, "rescheduleUid")
    return "" if old == _uid(payload) else old


def _details(payload: Mapping[str, Any], question: str, attendee: Mapping[str, Any], *, is_writer: bool) -> Details:
    responses = fields.child(payload, "responses") if is_writer else {}
    reminders = _reminders(payload, responses) if is_writer else ""
    name = fields.text(attendee, "name") or _answer(responses, "name")
    email = fields.text(attendee, "email") or _answer(responses, "email")
    is_made_up = email.lower().endswith(MADE_UP)
    return Details(
        starts_at=fields.instant(payload, "startTime"),
        ends_at=fields.optional_instant(payload, "endTime"),
        time_zone=fields.text(attendee, "timeZone"),
        name=name,
        first_name=fields.text(attendee, "firstName"),
        last_name=fields.text(attendee, "lastName"),
        email="" if is_made_up else email,
        alias=email if is_made_up else "",
        phone=reminders or _phone(responses, attendee, payload),
        consent=f"{SMS_FIELD}: {reminders}" if reminders else _consent(responses, question),
        title=fields.text(payload, "eventTitle") or fields.text(payload, "title"),
        location=_location(payload),
        cancel_url=_page(payload, "booking", "?cancel=true"),
        reschedule_url=_page(payload, "reschedule"),
        keeps_person=not is_writer,
    )


def _answer(responses: Mapping[str, Any], name: str) -> str:
    """Return the value of a response, which is an object with a label, or the value itself."""
    given = responses.get(name)
    if not isinstance(given, dict):
        return fields.scalar(given)
    value = fields.child(responses, name).get("value")
    return fields.scalar(value)


def _reminders(payload: Mapping[str, Any], responses: Mapping[str, Any]) -> str:
    """Return the phone for text reminders; beside the responses an event with seats has that of its first person."""
    return _answer(responses, SMS_FIELD) or ("" if _has_seats(payload) else fields.text(payload, SMS_FIELD))


def _phone(responses: Mapping[str, Any], attendee: Mapping[str, Any], payload: Mapping[str, Any]) -> str:
    location = fields.text(payload, "location")
    told = fields.text(attendee, "phoneNumber"), location if location.startswith("+") else ""
    answers = {name: _answer(responses, name) for name in responses}
    asked = [each for name, each in answers.items() if fields.may_be_phone(f"{name} {_label(responses, name)}", each)]
    return next(filter(None, (*(answers.get(name) for name in PHONES), *told, *asked)), "")


def _label(responses: Mapping[str, Any], name: str) -> str:
    return fields.text(fields.child(responses, name), "label") or name


def _consent(responses: Mapping[str, Any], question: str) -> str | None:
    for name in responses:
        label = _label(responses, name)
        if question and (fields.is_same_question(label, question) or fields.is_same_question(name, question)):
            value = fields.child(responses, name).get("value")
            return f"{label}: {fields.scalar(value) or 'yes'}" if fields.is_consent(value) else None
    return None


def _page(payload: Mapping[str, Any], name: str, query: str = "") -> str:
    """Return a page for the attendee; empty where the payload does not tell the address of the booker's pages."""
    address = fields.text(payload, "bookerUrl").rstrip("/")
    return f"{address}/{name}/{quote(_needed_uid(payload))}{query}" if address.startswith("https://") else ""


def _location(payload: Mapping[str, Any]) -> str:
    """Return the place or the link of the call; the names of Cal.com's integrations are no place."""
    link = fields.text(fields.child(payload, "metadata"), "videoCallUrl")
    location = fields.text(payload, "location")
    return link or ("" if location.startswith("integrations:") else location)

"""The webhooks of a simulated Cal.com.

Written from cal.com/docs, Webhooks (docs/developing/guides/automation/webhooks.mdx of github.com/calcom/cal.com), and
from the payloads that its code builds (packages/features/webhooks): the address of the booker's pages, and the
no-shows. A moved booking has a new uid, and names the former one. Checked by a second reader against that page and the
code of lib/factory/versioned/v2021-10-20/BookingPayloadBuilder.ts, lib/dto/types.ts and bookings/lib/handleSeats, and
by a third one against bookings/lib: service/RegularBookingService.ts, handleCancelBooking.ts, getCalEventResponses.ts
and getBookingFields.ts, for the times and the labels, which each kind of event writes in its own way.
"""

import hmac
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

import orjson

from app.domain.integrations.scheduling import Delivery
from tests.peers.visits import Visit

KIND = "calcom"
BOOKER_URL = "https://cal.com"
VECTOR = Delivery(
    {"x-cal-signature-256": "6964392879e8555db7df0d473a03a5558576786a2ce99ce1a327c08bd1011903"},
    b'{"triggerEvent":"BOOKING_CREATED"}',
)
"""A delivery that is signed with the secret `secret`."""

OVER = {"BOOKING_CANCELLED": "CANCELLED", "BOOKING_REJECTED": "REJECTED"}
STATUS = OVER | {"BOOKING_REQUESTED": "PENDING"}
LANGUAGE = {"language": {"locale": "en"}}


def sign(body: bytes, at: datetime, secret: str) -> Delivery:
    """Return a delivery as Cal.com signs it with the secret of the webhook, without the time."""
    signature = hmac.new(secret.encode(), body, sha256).hexdigest()
    return Delivery({"x-cal-signature-256": signature, "x-cal-webhook-version": "2021-10-20"}, body)


def event(name: str, visit: Visit, **payload: Any) -> bytes:
    """Return an event of Cal.com about a visit."""
    uid, write = f"uid{visit.chain}{visit.number}", _clock_of(name)
    booking: dict[str, Any] = {
        "type": "30min",
        "title": "Check-up between Host and Ann Lee",
        "description": "",
        "additionalNotes": "",
        "customInputs": {},
        "startTime": write(visit.starts_at),
        "endTime": write(visit.starts_at + timedelta(minutes=30)),
        "organizer": {"id": 5, "name": "Host", "email": "host@example.com", "timeZone": "Europe/Berlin", **LANGUAGE},
        "responses": {
            "name": _response("your_name", "Ann Lee"),
            "email": _response("email_address", visit.email),
            "attendeePhoneNumber": _response("phone_number", is_hidden=True),
            "location": _response("location", {"optionValue": "", "value": "integrations:daily"}),
            "smsReminderNumber": _response("number_text_notifications", visit.phone or None),
            "title": _response("what_is_this_meeting_about", is_hidden=True),
            "notes": _response("additional_notes"),
            "guests": _response("additional_guests", []),
            "rescheduleReason": _response("reason_for_reschedule"),
        },
        "userFieldsResponses": {},
        "attendees": [attendee("Ann Lee", visit.email, visit.zone)],
        "location": "integrations:daily",
        "destinationCalendar": None,
        "hideCalendarNotes": False,
        "requiresConfirmation": None,
        "eventTypeId": 7,
        "seatsShowAttendees": True,
        "seatsPerTimeSlot": None,
        "uid": uid,
        "bookerUrl": BOOKER_URL,
        "eventTitle": "Check-up",
        "eventDescription": "",
        "price": 0,
        "currency": "usd",
        "length": 30,
        "bookingId": 91 + visit.number,
        "metadata": {"videoCallUrl": f"{BOOKER_URL}/video/{uid}"},
        "status": STATUS.get(name, "ACCEPTED"),
    }
    if visit.phone:
        booking["smsReminderNumber"] = visit.phone
    if name == "BOOKING_RESCHEDULED":
        booking |= {"rescheduleUid": f"uid{visit.chain}{visit.number - 1}", "rescheduledBy": visit.email}
    if name == "BOOKING_CANCELLED":
        booking |= {"cancelledBy": visit.email, "cancellationReason": "", "requestReschedule": False}
    return _notice(name, visit.made_at + timedelta(minutes=name == "BOOKING_CANCELLED"), booking | payload)


def attendee(name: str, email: str, zone: str) -> dict[str, Any]:
    """Return an attendee as an event lists them."""
    first, _, last = name.partition(" ")
    known = {"name": name, "firstName": first, "lastName": last, "email": email, "timeZone": zone, "phoneNumber": None}
    return known | LANGUAGE


def booked(visit: Visit, **payload: Any) -> bytes:
    """Return the event of a booking."""
    return event("BOOKING_CREATED", visit, **payload)


def life(first: Visit, second: Visit) -> list[bytes]:
    """Return three events: a booking is made, moved, and canceled."""
    return [booked(first), event("BOOKING_RESCHEDULED", second), event("BOOKING_CANCELLED", second)]


def answered(visit: Visit, question: str, answer: Any) -> bytes:
    """Return the event of a booking with a phone and an answer, but without a number for text reminders."""
    responses = {"attendeePhoneNumber": _response("phone_number", "(202) 555-0143"), "ask": _response(question, answer)}
    return booked(visit, responses=responses, smsReminderNumber=None)


def unknown(visit: Visit) -> bytes:
    """Return an event of another kind."""
    return event("MEETING_ENDED", visit)


def missed(visit: Visit, at: datetime, **noted: bool) -> bytes:
    """Return the event of attendees who did not come, or did: by the names in their addresses, or all of the visit."""
    attendees = [{"email": f"{name}@example.com", "noShow": is_missing} for name, is_missing in noted.items()]
    listed = attendees or [{"email": visit.email, "noShow": True}]
    uid = f"uid{visit.chain}{visit.number}"
    payload = {"message": "x", "bookingUid": uid, "bookingId": 91 + visit.number, "attendees": listed}
    return _notice("BOOKING_NO_SHOW_UPDATED", at, payload)


def attended(visit: Visit, at: datetime) -> bytes:
    """Return the event of an attendee who did come: the mark of the no-show was removed."""
    return missed(visit, at, **{visit.email.partition("@")[0]: False})


def _notice(event: str, at: datetime, payload: dict[str, Any]) -> bytes:
    return orjson.dumps({"triggerEvent": event, "createdAt": _in_milliseconds(at), "payload": payload})


def _response(label: str, value: Any = None, *, is_hidden: bool = False) -> dict[str, Any]:
    """Return a response as it is written in JSON, where a value that is not given has no place."""
    given = {} if value is None else {"value": value}
    return {"label": label, **given, "isHidden": is_hidden}


def _clock_of(event: str) -> Callable[[datetime], str]:
    """Return how an event writes its times: most end with Z, those of a cancellation with the zone of the server."""
    if event == "BOOKING_CANCELLED":
        return lambda at: at.isoformat(timespec="seconds")
    return _in_milliseconds if event == "BOOKING_REJECTED" else _in_seconds


def _in_seconds(at: datetime) -> str:
    return at.isoformat(timespec="seconds").replace("+00:00", "Z")


def _in_milliseconds(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")

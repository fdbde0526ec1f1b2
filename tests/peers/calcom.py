"""The webhooks of a simulated Cal.com.

Written from cal.com/docs, Webhooks (docs/developing/guides/automation/webhooks.mdx of github.com/calcom/cal.com), and
from the payloads that its code builds (packages/features/webhooks): the address of the booker's pages, and the
no-shows. A moved booking has a new uid, and names the former one. Checked by a second reader against that page and the
code of lib/factory/versioned/v2021-10-20/BookingPayloadBuilder.ts, lib/dto/types.ts and bookings/lib/handleSeats.
"""

import hmac
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
    return Delivery({"x-cal-signature-256": hmac.new(secret.encode(), body, sha256).hexdigest()}, body)


def event(name: str, visit: Visit, **payload: Any) -> bytes:
    """Return an event of Cal.com about a visit."""
    uid, is_over = f"uid{visit.chain}{visit.number}", name in OVER
    booking: dict[str, Any] = {
        "type": "30min",
        "title": "Check-up between Host and Ann Lee",
        "description": "",
        "additionalNotes": "",
        "customInputs": {},
        "startTime": visit.starts_at.isoformat(),
        "endTime": (visit.starts_at + timedelta(minutes=30)).isoformat(),
        "organizer": {"id": 5, "name": "Host", "email": "host@example.com", "timeZone": "Europe/Berlin", **LANGUAGE},
        "responses": {
            "name": {"label": "your_name", "value": "Ann Lee"},
            "email": {"label": "email_address", "value": visit.email},
            "location": {"label": "location", "value": {"optionValue": "", "value": "integrations:daily"}},
            "smsReminderNumber": {"label": "Text me", "value": visit.phone},
            "notes": {"label": "additional_notes"},
            "guests": {"label": "additional_guests"},
        },
        "userFieldsResponses": {},
        "attendees": [{"name": "Ann Lee", "email": visit.email, "timeZone": visit.zone, **LANGUAGE}],
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
        "smsReminderNumber": visit.phone or None,
    }
    if name == "BOOKING_RESCHEDULED":
        booking["rescheduleUid"] = f"uid{visit.chain}{visit.number - 1}"
    if is_over:
        booking["cancellationReason"] = ""
    return _notice(name, visit.made_at + timedelta(minutes=name == "BOOKING_CANCELLED"), booking | payload)


def booked(visit: Visit, **payload: Any) -> bytes:
    """Return the event of a booking."""
    return event("BOOKING_CREATED", visit, **payload)


def life(first: Visit, second: Visit) -> list[bytes]:
    """Return three events: a booking is made, moved, and canceled."""
    return [booked(first), event("BOOKING_RESCHEDULED", second), event("BOOKING_CANCELLED", second)]


def answered(visit: Visit, question: str, answer: Any) -> bytes:
    """Return the event of a booking with a phone and an answer, but without a number for text reminders."""
    responses = {"attendeePhoneNumber": {"value": "(202) 555-0143"}, "ask": {"label": question, "value": answer}}
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
    return orjson.dumps({"triggerEvent": event, "createdAt": at.isoformat(), "payload": payload})

"""Reads integrations, events, bookings and their texts; writes the payloads of scheduling tools."""

import hmac
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

import orjson

from app.domain.integrations.scheduling import Delivery
from tests.factories.tables import Rows

INTEGRATIONS = Rows("integrations")
INTEGRATION_EVENTS = Rows("integration_events")
BOOKINGS = Rows("bookings")
BOOKING_TEXTS = Rows("booking_texts")

SECRET = "the secret of the tool"
URI = "https://api.calendly.com/scheduled_events/E{0}/invitees/I{0}"


@dataclass(frozen=True)
class Visit:
    """An appointment of a life: its place in the chain of moves, and the times at which it was made and begins."""

    number: int
    made_at: datetime
    starts_at: datetime
    zone: str = "America/New_York"
    phone: str = "+12025550143"


def sign_calendly(body: bytes, at: datetime, secret: str = SECRET) -> Delivery:
    """Return a delivery as Calendly signs it."""
    time = str(int(at.timestamp()))
    signature = hmac.new(secret.encode(), f"{time}.".encode() + body, sha256).hexdigest()
    return Delivery({"calendly-webhook-signature": f"t={time},v1={signature}"}, body)


def sign_calcom(body: bytes, at: datetime, secret: str = SECRET) -> Delivery:
    """Return a delivery as Cal.com signs it, without the time."""
    return Delivery({"x-cal-signature-256": hmac.new(secret.encode(), body, sha256).hexdigest()}, body)


SIGN = {"calendly": sign_calendly, "calcom": sign_calcom}


def calendly(event: str, visit: Visit, *, last: int = 2, **payload: Any) -> bytes:
    """Return an event of Calendly about one of the visits 0 to `last` of a chain."""
    is_canceled = event == "invitee.canceled"
    is_moved = is_canceled and visit.number < last
    invitee = {
        "uri": URI.format(visit.number),
        "created_at": visit.made_at.isoformat(),
        "name": "Ann Lee",
        "email": "ann@example.com",
        "text_reminder_number": visit.phone,
        "timezone": visit.zone,
        "questions_and_answers": [],
        "scheduled_event": {"name": "Check-up", "start_time": visit.starts_at.isoformat()},
        "cancel_url": f"https://calendly.com/cancellations/{visit.number}",
        "reschedule_url": f"https://calendly.com/reschedulings/{visit.number}",
        "rescheduled": is_moved,
        "old_invitee": URI.format(visit.number - 1) if visit.number else None,
        "new_invitee": URI.format(visit.number + 1) if is_moved else None,
        "status": "canceled" if is_canceled else "active",
    }
    at = visit.made_at + timedelta(minutes=is_canceled)
    return orjson.dumps({"event": event, "created_at": at.isoformat(), "payload": invitee | payload})


def calcom(event: str, visit: Visit, **payload: Any) -> bytes:
    """Return an event of Cal.com about a visit."""
    booking: dict[str, Any] = {
        "uid": f"uid{visit.number}",
        "startTime": visit.starts_at.isoformat(),
        "eventTitle": "Check-up",
        "attendees": [{"name": "Ann Lee", "email": "ann@example.com", "timeZone": visit.zone}],
        "responses": {"smsReminderNumber": {"label": "Text me", "value": visit.phone}},
    }
    if event == "BOOKING_RESCHEDULED":
        booking["rescheduleUid"] = f"uid{visit.number - 1}"
    at = visit.made_at + timedelta(minutes=event == "BOOKING_CANCELLED")
    return orjson.dumps({"triggerEvent": event, "createdAt": at.isoformat(), "payload": booking | payload})

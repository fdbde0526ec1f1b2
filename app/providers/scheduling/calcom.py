"""Cal.com: webhooks signed without a time, whose payload its users may change; a moved booking has a new uid."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

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
PHONES = (SMS_FIELD, "attendeePhoneNumber", "phone")


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
        """Return what an event says about its booking."""
        try:
            return _read(fields.load(body), consent_question)
        except fields.NotThere as problem:
            raise Unreadable(str(problem)) from None


def _read(event: Mapping[str, Any], question: str) -> Notice:
    name, payload = fields.needed(event, "triggerEvent"), fields.child(event, "payload") or event
    uid, at = _uid(payload), fields.text(event, "createdAt")
    made_at = fields.optional_instant(event, "createdAt") or datetime.fromtimestamp(0, UTC)
    return Notice(name, _change(name, payload, question, made_at), f"{name} {uid} {at}" if uid and at else "")


def _change(name: str, payload: Mapping[str, Any], question: str, made_at: datetime) -> Change | None:
    match name:
        case "BOOKING_CREATED" | "BOOKING_RESCHEDULED":
            old = _old(payload)
            is_moved = bool(old) or name == "BOOKING_RESCHEDULED"
            return Booked(_needed_uid(payload), made_at, _details(payload, question), old, is_moved)
        case "BOOKING_CANCELLED" | "BOOKING_REJECTED":
            details = _details(payload, question) if fields.text(payload, "startTime") else None
            return Canceled(_needed_uid(payload), made_at, details, _old(payload))
        case "BOOKING_NO_SHOW_UPDATED":
            missed = any(each.get("noShow") is True for each in fields.children(payload, "attendees"))
            return NoShow(_needed_uid(payload)) if missed else None
        case _:
            return None


def _uid(payload: Mapping[str, Any]) -> str:
    return fields.text(payload, "uid") or fields.text(payload, "bookingUid")


def _needed_uid(payload: Mapping[str, Any]) -> str:
    return _uid(payload) or fields.needed(payload, "uid")


def _old(payload: Mapping[str, Any]) -> str:
    old = fields.text(payload, "rescheduleUid")
    return "" if old == _uid(payload) else old


def _details(payload: Mapping[str, Any], question: str) -> Details:
    responses = fields.child(payload, "responses")
    attendee = next(iter(fields.children(payload, "attendees")), {})
    name = fields.text(attendee, "name") or _answer(responses, "name")
    phone, consent = _phone(responses, attendee, payload), _consent(responses, question)
    return Details(
        starts_at=fields.instant(payload, "startTime"),
        ends_at=fields.optional_instant(payload, "endTime"),
        time_zone=fields.text(attendee, "timeZone"),
        name=name,
        first_name=fields.text(attendee, "firstName"),
        last_name=fields.text(attendee, "lastName"),
        email=fields.text(attendee, "email") or _answer(responses, "email"),
        phone=phone,
        consent=consent,
        title=fields.text(payload, "eventTitle") or fields.text(payload, "title"),
        location=_location(payload),
    )


def _answer(responses: Mapping[str, Any], name: str) -> str:
    """Return the value of a response, which is an object with a label, or the value itself."""
    given = responses.get(name)
    if not isinstance(given, dict):
        return fields.scalar(given)
    value = fields.child(responses, name).get("value")
    return fields.scalar(value)


def _phone(responses: Mapping[str, Any], attendee: Mapping[str, Any], payload: Mapping[str, Any]) -> str:
    found = (*(_answer(responses, name) for name in PHONES), fields.text(attendee, "phoneNumber"))
    location = fields.text(payload, "location")
    return next(filter(None, found), location if location.startswith("+") else "")


def _consent(responses: Mapping[str, Any], question: str) -> str | None:
    if number := _answer(responses, SMS_FIELD):
        return f"{SMS_FIELD}: {number}"
    for name in responses:
        label = fields.text(fields.child(responses, name), "label") or name
        if question and (fields.is_same_question(label, question) or fields.is_same_question(name, question)):
            value = fields.child(responses, name).get("value")
            return f"{label}: {fields.scalar(value) or 'yes'}" if fields.is_consent(value) else None
    return None


def _location(payload: Mapping[str, Any]) -> str:
    """Return the place or the link of the call; the names of Cal.com's integrations are no place."""
    link = fields.text(fields.child(payload, "metadata"), "videoCallUrl")
    location = fields.text(payload, "location")
    return link or ("" if location.startswith("integrations:") else location)

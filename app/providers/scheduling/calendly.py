"""Calendly: webhooks signed with a timestamp; a rescheduled booking is a new invitee that names the old one."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
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

HEADER = "calendly-webhook-signature"
TOLERANCE = timedelta(minutes=3)


@dataclass(frozen=True, slots=True)
class Calendly:
    """The webhooks of Calendly (developer.calendly.com, Webhook signatures; Invitee payload)."""

    name: str = "calendly"
    title: str = "Calendly"

    def verify(self, secret: str, delivery: Delivery, now: datetime) -> None:
        """Check `t=<unix>,v1=<hex>`: HMAC-SHA256 of the time, a dot and the body, at most 3 minutes old or ahead."""
        at, given = _parts(delivery.headers.get(HEADER, ""))
        expected = hmac.new(secret.encode(), at.encode(errors="replace") + b"." + delivery.body, sha256).hexdigest()
        if not hmac.compare_digest(expected.encode(), given.encode(errors="replace")):
            raise BadSignature("The signature does not fit.")
        if not at.isascii() or not at.isdigit() or abs(now.timestamp() - int(at[:15])) > TOLERANCE.total_seconds():
            raise BadSignature("The signature is older than 3 minutes.")

    def read(self, body: bytes, consent_question: str) -> Notice:
        """Return the changes of an event to its invitee."""
        try:
            return _read(fields.load(body), consent_question)
        except fields.NotThere as problem:
            raise Unreadable(str(problem)) from None


def _parts(header: str) -> tuple[str, str]:
    """Return the time and the signature of a header; empty where they are missing."""
    parts = {name: value for name, _, value in (part.strip().partition("=") for part in header.split(","))}
    return parts.get("t", ""), parts.get("v1", "")


def _read(event: Mapping[str, Any], question: str) -> Notice:
    name, payload = fields.needed(event, "event"), fields.child(event, "payload")
    uri, at = fields.text(payload, "uri"), fields.text(event, "created_at")
    change = _change(name, payload, question, event)
    return Notice(name, (change,) if change else (), f"{name} {uri} {at}" if uri and at else "")


def _change(name: str, payload: Mapping[str, Any], question: str, event: Mapping[str, Any]) -> Change | None:
    match name:
        case "invitee.created":
            old = fields.identifier(payload, "old_invitee")
            made_at, details = fields.instant(payload, "created_at"), _details(payload, question)
            return Booked(fields.needed_identifier(payload, "uri"), made_at, details, old, bool(old))
        case "invitee.canceled":
            new = fields.identifier(payload, "new_invitee")
            return Canceled(
                fields.needed_identifier(payload, "uri"),
                fields.instant(payload, "created_at"),
                _details(payload, question),
                fields.identifier(payload, "old_invitee"),
                new,
                bool(new) or payload.get("rescheduled") is True,
                tells_origin=True,
            )
        case "invitee_no_show.created" | "invitee_no_show.deleted":
            id = fields.identifier(payload, "invitee") or fields.needed_identifier(payload, "uri")
            return NoShow(id, fields.instant(event, "created_at"), name == "invitee_no_show.created")
        case _:
            return None


def _details(payload: Mapping[str, Any], question: str) -> Details:
    scheduled = fields.child(payload, "scheduled_event")
    reminders = fields.text(payload, "text_reminder_number")
    phone, consent = _answers(payload, question)
    return Details(
        starts_at=fields.instant(scheduled, "start_time"),
        ends_at=fields.optional_instant(scheduled, "end_time"),
        time_zone=fields.text(payload, "timezone"),
        name=fields.text(payload, "name"),
        first_name=fields.text(payload, "first_name"),
        last_name=fields.text(payload, "last_name"),
        email=fields.text(payload, "email"),
        phone=reminders or phone,
        consent=f"Text reminders to: {reminders}" if reminders else consent,
        title=fields.text(scheduled, "name"),
        location=_location(fields.child(scheduled, "location")),
        cancel_url=fields.text(payload, "cancel_url"),
        reschedule_url=fields.text(payload, "reschedule_url"),
    )


def _answers(payload: Mapping[str, Any], question: str) -> tuple[str, str | None]:
    """Return the phone among the answers, and the consent."""
    phone, consent = "", None
    for each in fields.children(payload, "questions_and_answers"):
        asked, answer = fields.text(each, "question"), fields.text(each, "answer")
        if fields.is_same_question(asked, question):
            consent = f"{asked}: {answer}" if fields.is_consent(answer) else None
        elif not phone and fields.may_be_phone(asked, answer):
            phone = answer
    return phone, consent


def _location(location: Mapping[str, Any]) -> str:
    return fields.text(location, "location") or fields.text(location, "join_url")

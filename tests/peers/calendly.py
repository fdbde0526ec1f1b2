"""The webhooks of a simulated Calendly.

Written from developer.calendly.com: Webhook signatures, Webhook payloads for rescheduled events, Get sample webhook
data, Get event invitee, and Get event. A moved appointment is a new invitee of a new event; the canceled and the new
one name each other. Checked by a second reader against these pages, and the payload of an invitee at docs.morf.health.
"""

import hmac
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

import orjson

from app.domain.integrations.scheduling import Delivery
from tests.peers.visits import Visit

KIND = "calendly"
API = "https://api.calendly.com"
ORGANIZER = f"{API}/users/USER"
VECTOR = Delivery(
    {"calendly-webhook-signature": "t=1700000000,v1=aa81ffe5290dd89882c525d505598e93dff74cad71a6e3d21329ea62882e8609"},
    b'{"event":"invitee.created"}',
)
"""A delivery that is signed with the secret `secret` at 1700000000."""


def sign(body: bytes, at: datetime, secret: str) -> Delivery:
    """Return a delivery as Calendly signs it with the signing key of the subscription."""
    time = str(int(at.timestamp()))
    signature = hmac.new(secret.encode(), f"{time}.".encode() + body, sha256).hexdigest()
    return Delivery({"calendly-webhook-signature": f"t={time},v1={signature}"}, body)


def invitee_of(number: int, chain: str = "") -> str:
    """Return the URI of the invitee of a visit."""
    return f"{API}/scheduled_events/E{chain}{number}/invitees/I{chain}{number}"


def event(name: str, visit: Visit, *, last: int = 2, told_at: datetime | None = None, **payload: Any) -> bytes:
    """Return an event of Calendly about one of the visits 0 to `last` of a chain, which happens at `told_at`."""
    is_canceled = name == "invitee.canceled"
    is_moved = is_canceled and visit.number < last
    at = visit.made_at + timedelta(minutes=is_canceled)
    invitee = {
        "cancel_url": f"https://calendly.com/cancellations/{visit.chain}{visit.number}",
        "created_at": _time(visit.made_at),
        "email": visit.email,
        "event": f"{API}/scheduled_events/E{visit.chain}{visit.number}",
        "first_name": None,
        "last_name": None,
        "name": "Ann Lee",
        "new_invitee": invitee_of(visit.number + 1, visit.chain) if is_moved else None,
        "no_show": None,
        "old_invitee": invitee_of(visit.number - 1, visit.chain) if visit.number else None,
        "payment": None,
        "questions_and_answers": [],
        "reconfirmation": None,
        "reschedule_url": f"https://calendly.com/reschedulings/{visit.chain}{visit.number}",
        "rescheduled": is_moved,
        "routing_form_submission": None,
        "scheduled_event": _scheduled(visit, "canceled" if is_canceled else "active"),
        "status": "canceled" if is_canceled else "active",
        "text_reminder_number": visit.phone,
        "timezone": visit.zone,
        "tracking": {"utm_campaign": None, "utm_source": None, "salesforce_uuid": None},
        "updated_at": _time(at),
        "uri": invitee_of(visit.number, visit.chain),
    }
    if is_canceled:
        cancellation = {"canceled_by": "Ann Lee", "reason": "", "canceler_type": "invitee", "created_at": _time(at)}
        invitee["cancellation"] = cancellation
    notice = {"created_at": _time(told_at or at), "created_by": ORGANIZER, "event": name, "payload": invitee | payload}
    return orjson.dumps(notice)


def booked(visit: Visit, **payload: Any) -> bytes:
    """Return the event of an appointment that is the only one of its chain."""
    return event("invitee.created", visit, last=visit.number, **({"old_invitee": None} | payload))


def life(first: Visit, second: Visit) -> list[bytes]:
    """Return three events: an appointment is made, and moved, by which the first one ends."""
    return [
        event("invitee.created", first, last=1),
        event("invitee.canceled", first, last=1),
        event("invitee.created", second, last=1),
    ]


def answered(visit: Visit, question: str, answer: Any) -> bytes:
    """Return the event of an appointment with a phone and an answer, but without a number for text reminders."""
    asked = [
        {"question": "Phone Number", "answer": "(202) 555-0143", "position": 0},
        {"question": question, "answer": answer, "position": 1},
    ]
    return booked(visit, text_reminder_number=None, questions_and_answers=asked)


def unknown(visit: Visit) -> bytes:
    """Return an event of another kind."""
    return event("routing_form_submission.created", visit)


def missed(visit: Visit, at: datetime) -> bytes:
    """Return the event of an attendee who did not come."""
    no_show = {"uri": f"{API}/invitee_no_shows/N{visit.number}", "created_at": _time(at)}
    return event("invitee_no_show.created", visit, last=visit.number, told_at=at, no_show=no_show)


def attended(visit: Visit, at: datetime) -> bytes:
    """Return the event of an attendee who did come: the mark of the no-show was removed."""
    return event("invitee_no_show.deleted", visit, last=visit.number, told_at=at)


def _scheduled(visit: Visit, status: str) -> dict[str, Any]:
    member = {"user": ORGANIZER, "user_email": "host@example.com", "user_name": "Host"}
    return {
        "uri": f"{API}/scheduled_events/E{visit.chain}{visit.number}",
        "name": "Check-up",
        "status": status,
        "start_time": _time(visit.starts_at),
        "end_time": _time(visit.starts_at + timedelta(minutes=30)),
        "event_type": f"{API}/event_types/TYPE",
        "location": {"type": "physical", "location": "1 Main St"},
        "invitees_counter": {"total": 1, "active": int(status == "active"), "limit": 1},
        "event_memberships": [member],
        "event_guests": [],
        "created_at": _time(visit.made_at),
        "updated_at": _time(visit.made_at),
    }


def _time(at: datetime) -> str:
    return at.isoformat(timespec="microseconds").replace("+00:00", "Z")

"""Telnyx's callbacks, and the messages of its API: events of messages that we sent, and messages of people."""

import re
from collections.abc import Mapping
from datetime import datetime

from app.domain.carriers.carrier import (
    FailureCode,
    InboundMessage,
    Keyword,
    MalformedCallback,
    Media,
    Receipt,
    ReceiptStatus,
)
from app.providers import carrier_api
from app.providers.carrier_api import Record
from app.providers.carriers.telnyx.errors import CODES

STATUSES: Mapping[str, ReceiptStatus] = {
    "queued": ReceiptStatus.pending,
    "sending": ReceiptStatus.pending,
    "sent": ReceiptStatus.sent,
    "delivered": ReceiptStatus.delivered,
    "sending_failed": ReceiptStatus.failed,
    "delivery_failed": ReceiptStatus.failed,
    "expired": ReceiptStatus.failed,
    "delivery_unconfirmed": ReceiptStatus.unconfirmed,
}

KEYWORDS: Mapping[str, Keyword] = {"STOP": Keyword.stop, "START": Keyword.start, "HELP": Keyword.help}
"""The values of `autoresponse_type`: Telnyx acted on the keyword."""

SENT_EVENTS, RECEIVED_EVENT = frozenset({"message.sent", "message.finalized"}), "message.received"
MOST_CODE = 10**6
MOST_MEDIA = 20
YEARS = range(2000, 3000)

_REFERENCE = re.compile(r"[?&]reference=([0-9]{1,19})(?:&|$)")


def read_status(body: bytes) -> list[Receipt]:
    """Read an event of a message that we sent; raise `MalformedCallback`. Other events are none of ours."""
    event = _event(body)
    if event.get("event_type") not in SENT_EVENTS:
        _refuse_misdirected(event, RECEIVED_EVENT, "inbound")
        return []
    return [_receipt(carrier_api.child(event, "payload"), _time(event.get("occurred_at")))]


def read_present_status(said: Record) -> Receipt | None:
    """Return the receipt that a message of the API stands for; None where it cannot be read."""
    try:
        return _receipt(said, None)
    except MalformedCallback:
        return None


def read_inbound(body: bytes) -> list[InboundMessage]:
    """Read a message of a person; raise `MalformedCallback`. Other events are none of ours."""
    event = _event(body)
    if event.get("event_type") != RECEIVED_EVENT:
        _refuse_misdirected(event, "message.finalized", "status")
        return []
    said = carrier_api.child(event, "payload")
    sender = carrier_api.child(said, "from").get("phone_number")
    autoresponse = said.get("autoresponse_type")
    return [
        InboundMessage(
            carrier_api.require(carrier_api.name(said.get("id")), "payload.id"),
            carrier_api.require(carrier_api.name(sender), "payload.from.phone_number"),
            carrier_api.require(carrier_api.name(_first(said).get("phone_number")), "payload.to[0].phone_number"),
            carrier_api.text(said.get("text")),
            _time(said.get("received_at")),
            tuple(_media(each) for each in carrier_api.objects(said.get("media")) if _is_media(each))[:MOST_MEDIA],
            KEYWORDS.get(autoresponse.upper()) if isinstance(autoresponse, str) else None,
        )
    ]


def reference(webhook_url: object) -> int | None:
    """Return our reference in the address that we gave for the events of a message."""
    found = _REFERENCE.search(webhook_url) if isinstance(webhook_url, str) else None
    return carrier_api.reference(found[1]) if found else None


def error_code(said: Record) -> int | None:
    """Return the first error code of a message or of a refusal."""
    for error in carrier_api.objects(said.get("errors")):
        if code := carrier_api.number(error.get("code"), MOST_CODE):
            return code
    return None


def failure(status: str, code: int | None) -> FailureCode:
    """Return the cause of a failed message, by its error code or else by its status."""
    return CODES.get(code or 0, FailureCode.expired if status == "expired" else FailureCode.carrier_error)


def _receipt(said: Record, at: datetime | None) -> Receipt:
    """Return the receipt of a message; raise `MalformedCallback`."""
    raw = carrier_api.require(carrier_api.name(_first(said).get("status")), "payload.to[0].status")
    status = STATUSES.get(raw)
    if status is None:
        raise MalformedCallback(f"the status {raw!r} is unknown")
    code = error_code(said) if status is ReceiptStatus.failed else None
    cost = carrier_api.child(said, "cost")
    return Receipt(
        carrier_api.require(carrier_api.name(said.get("id")), "payload.id"),
        status,
        raw,
        failure(raw, code) if status is ReceiptStatus.failed else None,
        str(code) if code else "",
        reference=reference(said.get("webhook_url")),
        at=at,
        parts=carrier_api.number(said.get("parts"), carrier_api.MOST_PARTS),
        charge=carrier_api.charge(cost.get("amount"), cost.get("currency")),
    )


def _event(body: bytes) -> Record:
    found = carrier_api.read_object(body)
    if found is None:
        raise MalformedCallback("the body is not a JSON object")
    event = carrier_api.child(found, "data")
    carrier_api.require(carrier_api.name(event.get("event_type")), "event_type")
    return event


def _refuse_misdirected(event: Record, kind: str, path: str) -> None:
    """Have an event kept for inspection that the settings of the messaging profile send to the wrong address."""
    if event.get("event_type") == kind:
        raise MalformedCallback(f"events {kind} belong to the address that ends in /{path}")


def _first(said: Record) -> Record:
    to = carrier_api.objects(said.get("to"))
    return to[0] if to else {}


def _time(value: object) -> datetime | None:
    try:
        at = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return at if at and at.tzinfo and YEARS.start <= at.year < YEARS.stop else None


def _is_media(said: Record) -> bool:
    return carrier_api.is_link(said.get("url"))


def _media(said: Record) -> Media:
    return Media(str(said.get("url")), carrier_api.name(said.get("content_type")) or "application/octet-stream")

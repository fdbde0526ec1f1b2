"""Twilio's callbacks, and the messages of its API: statuses of messages, and messages of people."""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import replace

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
from app.providers.carriers.twilio.errors import CODES
from app.providers.carriers.twilio.signature import Fields

STATUSES: Mapping[str, ReceiptStatus] = {
    "accepted": ReceiptStatus.pending,
    "scheduled": ReceiptStatus.pending,
    "queued": ReceiptStatus.pending,
    "sending": ReceiptStatus.pending,
    "sent": ReceiptStatus.sent,
    "delivered": ReceiptStatus.delivered,
    "read": ReceiptStatus.delivered,
    "partially_delivered": ReceiptStatus.failed,
    "undelivered": ReceiptStatus.failed,
    "failed": ReceiptStatus.failed,
    "canceled": ReceiptStatus.failed,
}

KEYWORDS: Mapping[str, Keyword] = {"STOP": Keyword.stop, "START": Keyword.start, "HELP": Keyword.help}
"""The values of `OptOutType`: Advanced Opt-Out of a messaging service acted on the keyword."""

MOST_CODE = 10**6
MOST_MEDIA = 20
SHORTEST_BASE64 = 60

_REFERENCE = re.compile(r"[?&]reference=([0-9]{1,19})(?:&|$)")


def read_status(url: str, fields: Fields) -> Receipt:
    """Read a status callback; raise `MalformedCallback`."""
    said = _decode(fields)
    raw = carrier_api.require(carrier_api.name(said.get("MessageStatus") or said.get("SmsStatus")), "MessageStatus")
    receipt = _receipt(_sid(said), raw, said.get("ErrorCode"))
    if receipt is None:
        raise MalformedCallback(f"the status {raw!r} is unknown")
    reference = _REFERENCE.search(url)
    return replace(receipt, reference=carrier_api.reference(reference[1]) if reference else None)


def read_present_status(said: Record) -> Receipt | None:
    """Return the receipt that a message of the API stands for; None where it cannot be read."""
    sid, raw = carrier_api.name(said.get("sid")), carrier_api.name(said.get("status"))
    receipt = _receipt(sid, raw, said.get("error_code")) if sid and raw else None
    if receipt is None:
        return None
    parts = carrier_api.number(said.get("num_segments"), carrier_api.MOST_PARTS)
    return replace(receipt, parts=parts, charge=carrier_api.charge(said.get("price"), said.get("price_unit")))


def read_inbound(fields: Fields) -> InboundMessage:
    """Read a message of a person; raise `MalformedCallback`."""
    said = _decode(fields)
    count = carrier_api.number(said.get("NumMedia"), MOST_MEDIA) or 0
    return InboundMessage(
        _sid(said),
        carrier_api.require(carrier_api.name(said.get("From")), "From"),
        carrier_api.require(carrier_api.name(said.get("To")), "To"),
        carrier_api.text(decode_body(said.get("Body", ""))),
        media=tuple(media for each in range(count) if (media := _media(said, each))),
        answered_keyword=KEYWORDS.get(said.get("OptOutType", "").upper()),
    )


def decode_body(body: str) -> str:
    """Return the text of a body, which Twilio sends as base64 in some cases.

    A text of 60 characters or more counts as base64 where it can be decoded to printable UTF-8.
    """
    if len(body) < SHORTEST_BASE64 or len(body) % 4:
        return body
    try:
        decoded = base64.b64decode(body, validate=True).decode()
    except (binascii.Error, ValueError):
        return body
    return decoded if all(each.isprintable() or each in "\r\n\t" for each in decoded) else body


def _decode(fields: Fields) -> dict[str, str]:
    return {key.decode("utf-8", "replace"): value.decode("utf-8", "replace") for key, value in fields}


def _receipt(sid: str, raw: str, error_code: object) -> Receipt | None:
    """Return the receipt of a status; None for one that is unknown."""
    status, code = STATUSES.get(raw), carrier_api.number(error_code, MOST_CODE)
    if status is None:
        return None
    failure = CODES.get(code or 0, FailureCode.carrier_error) if status is ReceiptStatus.failed else None
    return Receipt(sid, status, raw, failure, str(code) if code else "")


def _sid(said: Mapping[str, str]) -> str:
    return carrier_api.require(carrier_api.name(said.get("MessageSid") or said.get("SmsSid")), "MessageSid")


def _media(said: Mapping[str, str], index: int) -> Media | None:
    url = said.get(f"MediaUrl{index}", "")
    content_type = carrier_api.name(said.get(f"MediaContentType{index}")) or "application/octet-stream"
    return Media(url, content_type) if carrier_api.is_link(url) else None

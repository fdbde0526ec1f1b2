"""Twilio's callbacks, and the messages of its API: statuses of messages, and messages of people."""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import quote

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
UNKNOWN_TYPE = "application/octet-stream"
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


def read_listed(said: Record) -> InboundMessage | None:
    """Return a message of a person that the API lists; None for any other one, or where it cannot be read.

    Twilio lists neither the files of an MMS, only their number, nor the keyword that it has answered.
    """
    sid, sender, to = (carrier_api.name(said.get(field)) for field in ("sid", "from", "to"))
    at = read_time(said.get("date_sent"))
    if said.get("direction") != "inbound" or sid is None or sender is None or to is None or at is None:
        return None
    lacks_media = carrier_api.number(said.get("num_media"), MOST_MEDIA) is not None
    return InboundMessage(sid, sender, to, carrier_api.text(said.get("body")), at=at, lacks_media=lacks_media)


def read_media(url: str, page: Record) -> tuple[Media, ...]:
    """Return the files of an MMS in Twilio's list of them, whose addresses begin with `url`."""
    found: list[Media] = []
    for each in carrier_api.objects(page.get("media_list")):
        link = f"{url}/{quote(carrier_api.name(each.get('sid')) or '', safe='')}"
        if each.get("sid") and carrier_api.is_link(link):
            found.append(Media(link, carrier_api.name(each.get("content_type")) or UNKNOWN_TYPE))
    return tuple(found)


def read_time(date: object) -> datetime | None:
    """Return the time of a date of RFC 2822; None where it cannot be read."""
    try:
        at = parsedate_to_datetime(date) if isinstance(date, str) else None
    except ValueError:
        return None
    return at if at is None or at.tzinfo else at.replace(tzinfo=UTC)


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
    content_type = carrier_api.name(said.get(f"MediaContentType{index}")) or UNKNOWN_TYPE
    return Media(url, content_type) if carrier_api.is_link(url) else None

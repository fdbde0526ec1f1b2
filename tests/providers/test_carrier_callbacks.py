"""Callbacks of Twilio and Telnyx: what they say of messages, and what people write."""

import base64
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

import orjson
import pytest

from app.domain.carriers.carrier import (
    CallbackRequest,
    Charge,
    FailureCode,
    InboundMessage,
    Keyword,
    MalformedCallback,
    Media,
    Receipt,
    ReceiptStatus,
)
from app.providers import carrier_api
from app.providers.carriers.twilio.callbacks import decode_body
from app.providers.carriers.twilio.signature import FORM, read_form, sign
from tests.providers.carrier_apis import NOW, PUBLIC_URL, SIGNING, TOKEN, telnyx, twilio

SID = "SM" + "1" * 32
ID = "40385f64-5717-4562-b3fc-2c963f66afa6"
TO, FROM = "+14155552671", "+14155552345"
AT = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)


def form(fields: dict[str, str] | bytes, query: str = "", path: str = "status") -> CallbackRequest:
    """Return a signed callback of Twilio."""
    body = fields if isinstance(fields, bytes) else urlencode(fields).encode()
    url = f"{PUBLIC_URL}/carriers/twilio/{path}{query}"
    signature = sign(TOKEN, url, read_form(body)).decode()
    return CallbackRequest(url, {"content-type": FORM, "x-twilio-signature": signature}, body)


def event(body: bytes | dict[str, Any]) -> CallbackRequest:
    """Return a signed callback of Telnyx."""
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    signature = base64.b64encode(SIGNING.sign(b"%d|" % NOW + content)).decode()
    headers = {"telnyx-signature-ed25519": signature, "telnyx-timestamp": str(NOW)}
    return CallbackRequest(f"{PUBLIC_URL}/carriers/telnyx/status?reference=999", headers, content)


def finalized(status: str, **payload: Any) -> dict[str, Any]:
    said = {
        "id": ID,
        "to": [{"phone_number": TO, "status": status}],
        "from": {"phone_number": FROM},
        "webhook_url": f"{PUBLIC_URL}/carriers/telnyx/status?reference=7",
        "parts": 2,
        "cost": {"amount": "0.0051", "currency": "USD"},
        "errors": [],
    }
    data = {"id": "e1", "event_type": "message.finalized", "occurred_at": "2026-11-21T09:30:00.000+00:00"}
    return {"data": {**data, "payload": {**said, **payload}}}


def received(**payload: Any) -> dict[str, Any]:
    said = {
        "id": ID,
        "from": {"phone_number": TO},
        "to": [{"phone_number": FROM, "status": "webhook_delivered"}],
        "text": "Hi é 日本",
        "media": [],
        "received_at": "2026-11-21T09:30:00Z",
    }
    return {"data": {"id": "e2", "event_type": "message.received", "payload": {**said, **payload}}}


@pytest.mark.parametrize(
    ("raw", "status", "code"),
    [
        ("accepted", ReceiptStatus.pending, None),
        ("scheduled", ReceiptStatus.pending, None),
        ("queued", ReceiptStatus.pending, None),
        ("sending", ReceiptStatus.pending, None),
        ("sent", ReceiptStatus.sent, None),
        ("delivered", ReceiptStatus.delivered, None),
        ("read", ReceiptStatus.delivered, None),
        ("undelivered", ReceiptStatus.failed, FailureCode.carrier_error),
        ("failed", ReceiptStatus.failed, FailureCode.carrier_error),
        ("canceled", ReceiptStatus.failed, FailureCode.carrier_error),
        ("partially_delivered", ReceiptStatus.failed, FailureCode.carrier_error),
    ],
)
def test_each_status_of_twilio_is_understood(raw: str, status: ReceiptStatus, code: FailureCode | None) -> None:
    said = {"MessageSid": SID, "MessageStatus": raw, "To": TO, "From": FROM}

    assert twilio().parse_receipts(form(said, "?reference=7")) == [Receipt(SID, status, raw, code, reference=7)]


def test_the_error_of_twilio_is_kept_with_its_meaning() -> None:
    said = {"SmsSid": SID, "SmsStatus": "undelivered", "ErrorCode": "30003"}

    [receipt] = twilio().parse_receipts(form(said))

    assert receipt == Receipt(SID, ReceiptStatus.failed, "undelivered", FailureCode.unreachable, "30003")


@pytest.mark.parametrize(
    "query", ["", "?reference=", "?reference=0", "?reference=9223372036854775808", "?x=7", "?reference=-7"]
)
def test_an_address_without_a_valid_reference_has_none(query: str) -> None:
    [receipt] = twilio().parse_receipts(form({"MessageSid": SID, "MessageStatus": "sent"}, query))

    assert receipt.reference is None


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"MessageSid": SID},
        {"MessageStatus": "sent"},
        {"MessageSid": SID, "MessageStatus": "lost"},
        {"MessageSid": SID, "MessageStatus": ""},
        {"MessageSid": "a\x00b", "MessageStatus": "sent"},
        {"MessageSid": "x" * 300, "MessageStatus": "sent"},
        b"\xff%ff=%00&&&=&%",
    ],
)
def test_a_status_of_twilio_that_is_not_understood_is_malformed(fields: dict[str, str] | bytes) -> None:
    with pytest.raises(MalformedCallback):
        twilio().parse_receipts(form(fields))


def test_a_text_to_twilio_is_read() -> None:
    said = {
        "MessageSid": SID,
        "From": TO,
        "To": FROM,
        "Body": "Hi é 日本\x00 & = +",
        "NumMedia": "0",
        "NumSegments": "1",
    }

    assert twilio().parse_inbound(form(said, path="inbound")) == [
        InboundMessage(SID, TO, FROM, "Hi é 日本\ufffd & = +")
    ]


def test_files_of_an_mms_to_twilio_are_links() -> None:
    url = "https://api.twilio.com/2010-04-01/Accounts/AC1/Messages/MM1/Media/ME1"
    said = {"MessageSid": SID, "From": TO, "To": FROM, "Body": "", "NumMedia": "4"}
    media = {"MediaUrl0": url, "MediaContentType0": "image/jpeg", "MediaUrl1": "javascript:alert(1)", "MediaUrl2": url}

    [message] = twilio().parse_inbound(form(said | media, path="inbound"))

    assert message.media == (Media(url, "image/jpeg"), Media(url, "application/octet-stream"))


@pytest.mark.parametrize(
    ("said", "keyword"),
    [
        ("STOP", Keyword.stop),
        ("START", Keyword.start),
        ("HELP", Keyword.help),
        ("help", Keyword.help),
        ("", None),
        ("x", None),
    ],
)
def test_a_keyword_that_the_carrier_answered_is_known(said: str, keyword: Keyword | None) -> None:
    fields = {"MessageSid": SID, "From": TO, "To": FROM, "Body": "whatever", "OptOutType": said}

    [by_twilio] = twilio().parse_inbound(form(fields, path="inbound"))
    [by_telnyx] = telnyx().parse_inbound(event(received(autoresponse_type=said)))

    assert (by_twilio.answered_keyword, by_telnyx.answered_keyword) == (keyword, keyword)


LONG = "A long text with é and 日本, which Twilio has sent as base64 in some cases.\nSecond line."


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (base64.b64encode(LONG.encode()).decode(), LONG),
        (base64.b64encode(b"short").decode(), "c2hvcnQ="),
        (base64.b64encode(bytes(range(256))).decode(), base64.b64encode(bytes(range(256))).decode()),
        ("a" * 60, "a" * 60),
        (" ".join(["word"] * 20), " ".join(["word"] * 20)),
        ("", ""),
    ],
)
def test_a_body_in_base64_is_decoded_where_it_holds_a_text(body: str, read: str) -> None:
    assert decode_body(body) == read


@pytest.mark.parametrize("missing", ["MessageSid", "From", "To"])
def test_a_text_to_twilio_without_a_needed_field_is_malformed(missing: str) -> None:
    said = {"MessageSid": SID, "From": TO, "To": FROM, "Body": "Hi"}
    del said[missing]

    with pytest.raises(MalformedCallback, match=missing):
        twilio().parse_inbound(form(said, path="inbound"))


@pytest.mark.parametrize(
    ("raw", "status", "code"),
    [
        ("queued", ReceiptStatus.pending, None),
        ("sending", ReceiptStatus.pending, None),
        ("sent", ReceiptStatus.sent, None),
        ("delivered", ReceiptStatus.delivered, None),
        ("delivery_unconfirmed", ReceiptStatus.unconfirmed, None),
        ("sending_failed", ReceiptStatus.failed, FailureCode.carrier_error),
        ("delivery_failed", ReceiptStatus.failed, FailureCode.carrier_error),
        ("expired", ReceiptStatus.failed, FailureCode.expired),
    ],
)
def test_each_status_of_telnyx_is_understood(raw: str, status: ReceiptStatus, code: FailureCode | None) -> None:
    charge = Charge(Decimal("0.0051"), "USD")

    assert telnyx().parse_receipts(event(finalized(raw))) == [
        Receipt(ID, status, raw, code, reference=7, at=AT, parts=2, charge=charge)
    ]


def test_the_error_of_telnyx_is_kept_with_its_meaning() -> None:
    said = finalized("delivery_failed", errors=[{"title": "no code"}, {"code": "40300", "title": "Blocked"}])

    [receipt] = telnyx().parse_receipts(event(said))

    assert (receipt.code, receipt.carrier_error) == (FailureCode.opted_out, "40300")


def test_the_reference_of_telnyx_is_the_signed_one_of_the_body() -> None:
    [of_body] = telnyx().parse_receipts(event(finalized("sent")))
    [of_none] = telnyx().parse_receipts(event(finalized("sent", webhook_url=None)))

    assert (of_body.reference, of_none.reference) == (7, None)


def test_a_text_to_telnyx_is_read() -> None:
    assert telnyx().parse_inbound(event(received())) == [InboundMessage(ID, TO, FROM, "Hi é 日本", AT)]


def test_files_of_an_mms_to_telnyx_are_links() -> None:
    files = [
        {"url": "https://media.telnyx.com/1", "content_type": "image/png"},
        {"url": 7},
        "x",
        {"url": "https://a.example/b"},
    ]

    [message] = telnyx().parse_inbound(event(received(media=files, text=None)))

    assert message.body == ""
    assert message.media == (
        Media("https://media.telnyx.com/1", "image/png"),
        Media("https://a.example/b", "application/octet-stream"),
    )


def test_files_of_an_mms_are_links_to_public_names_only() -> None:
    hosts = ("169.254.169.254", "127.0.0.1:8000", "[::1]", "localhost", "0x7f000001", "2130706433", "a@b.example")
    good = ["https://api.twilio.com", "http://media.telnyx.com:8080/a?b=c#d", "https://xn--bcher-kva.example/x"]
    bad = ["//a.example/b", "ftp://a.example/b", "javascript:alert(1)", "file:///etc/passwd", "https://a.example/b c"]

    assert [each for each in good if not carrier_api.is_link(each)] == []
    assert [each for each in (*bad, *(f"http://{host}/x" for host in hosts)) if carrier_api.is_link(each)] == []


def test_events_of_telnyx_that_are_none_of_ours_are_passed_over() -> None:
    said = event({"data": {"id": "e3", "event_type": "message.read", "payload": {}}})

    assert (telnyx().parse_receipts(said), telnyx().parse_inbound(said)) == ([], [])


def test_events_of_telnyx_at_the_wrong_address_are_kept_for_inspection() -> None:
    with pytest.raises(MalformedCallback, match=r"message\.received belong to the address that ends in /inbound"):
        telnyx().parse_receipts(event(received()))
    with pytest.raises(MalformedCallback, match=r"message\.finalized belong to the address that ends in /status"):
        telnyx().parse_inbound(event(finalized("sent")))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"not JSON",
        b'{"data":7}',
        b'{"data":{"event_type":7}}',
        b'{"data":{"event_type":"message.finalized"}}',
        b'{"data":{"event_type":"message.finalized","payload":{"id":"1","to":[]}}}',
        b'{"data":{"event_type":"message.finalized","payload":{"id":"1","to":[{"status":"lost"}]}}}',
        b'{"data":{"event_type":"message.finalized","payload":{"id":"\\u0000","to":[{"status":"sent"}]}}}',
        b'{"data":{"event_type":"message.received","payload":{"id":"1"}}}',
        b"[" * 100_000,
    ],
)
def test_an_event_of_telnyx_that_is_not_understood_is_malformed(body: bytes) -> None:
    for parse in (telnyx().parse_receipts, telnyx().parse_inbound):
        with pytest.raises(MalformedCallback):
            parse(event(body))


@pytest.mark.parametrize(
    "when", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-11-21T09:30:00", "x", 7, None]
)
def test_an_odd_time_is_left_out(when: Any) -> None:
    said = finalized("sent")
    said["data"]["occurred_at"] = when

    [receipt] = telnyx().parse_receipts(event(said))

    assert receipt.at is None

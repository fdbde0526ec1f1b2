"""Finding and deleting messages at Twilio and Telnyx."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import orjson
import pytest

from app.domain.carriers.carrier import (
    Accepted,
    CallbackRequest,
    CarriedMessage,
    CarrierAccount,
    CarrierBusy,
    CarrierNumber,
    Charge,
    ConnectionRefused,
    FailureCode,
    Receipt,
    ReceiptStatus,
    Rejected,
)
from tests.providers.carrier_apis import ACCOUNT, MESSAGE, OPEN, PUBLIC_URL, reply, served, telnyx, twilio
from tests.providers.peers import Answering, say, say_and_close, then

pytestmark = pytest.mark.anyio

KINDS = sorted(OPEN)
SINCE = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
SID = "SM" + "1" * 32


def listed(**fields: Any) -> dict[str, Any]:
    message = {
        "sid": SID,
        "status": "queued",
        "body": MESSAGE.body,
        "direction": "outbound-api",
        "date_created": "Sat, 21 Nov 2026 09:30:05 +0000",
        "date_sent": None,
        "num_segments": "1",
        "error_code": None,
    }
    return message | fields


def twilio_page(*messages: dict[str, Any], following: object = None) -> bytes:
    return reply(200, orjson.dumps({"messages": messages, "next_page_uri": following}))


def record(**fields: Any) -> dict[str, Any]:
    said = {"uuid": "id1", "status": "delivered", "parts": 1, "cost": "0.005", "currency": "USD", "errors": []}
    return {**said, "delivery_status_webhook_url": f"{PUBLIC_URL}/carriers/telnyx/status?reference=7", **fields}


def telnyx_page(*records: dict[str, Any], page: int = 1, of: int = 1) -> bytes:
    meta = {"page_number": page, "total_pages": of, "total_results": 1, "page_size": 50}
    return reply(200, orjson.dumps({"data": records, "meta": meta}))


async def find(kind: str, answering: Answering) -> tuple[list[Accepted | Rejected], list[str]]:
    """Look for the message; return the answers and the first lines of the questions."""
    async with served(kind, answering) as (carrier, peer):
        found = await carrier.find(MESSAGE, SINCE)
    return list(found), [head.partition(" HTTP")[0] for head, _ in peer.requests]


async def test_twilio_is_asked_for_the_messages_between_two_numbers() -> None:
    found, asked = await find("twilio", say(twilio_page(listed())))

    assert found == [Accepted(SID, "queued", 1)]
    assert asked == [
        f"GET /2010-04-01/Accounts/{ACCOUNT}/Messages.json?To=%2B14155552671&From=%2B14155552345&PageSize=100"
    ]


@pytest.mark.parametrize(
    "other",
    [
        {"body": "Other"},
        {"direction": "inbound"},
        {"direction": "inbound", "body": ""},
        {"direction": None},
        {"date_created": "Fri, 20 Nov 2026 09:29:59 +0000"},
        {"sid": None},
        {"status": 7},
    ],
)
async def test_a_message_that_is_not_ours_is_passed_over(other: dict[str, Any]) -> None:
    assert (await find("twilio", say(twilio_page(listed(**other)))))[0] == []


@pytest.mark.parametrize(
    "fields",
    [
        {"body": "Sent from your Twilio trial account - " + MESSAGE.body},
        {"body": f" {MESSAGE.body}\n"},
        {"body": None},
        {"body": " "},
        {"body": "[REDACTED]"},
        {"date_created": "Sat, 21 Nov 2026 09:28:59 +0000"},
        {"date_created": "Fri, 20 Nov 2026 10:00:00 +0000"},
        {"date_created": None},
        {"date_created": "yesterday"},
    ],
)
async def test_a_message_that_may_be_ours_is_found(fields: dict[str, Any]) -> None:
    assert (await find("twilio", say(twilio_page(listed(**fields)))))[0] == [Accepted(SID, "queued", 1)]


def test_twilio_may_list_a_message_late() -> None:
    assert twilio().capabilities.lists_within == timedelta(minutes=2)


async def test_a_message_that_has_failed_at_twilio_is_found_as_refused() -> None:
    found, _ = await find("twilio", say(twilio_page(listed(status="undelivered", error_code=30006))))

    assert found == [Rejected(FailureCode.landline, "30006", provider_message_id=SID)]


async def test_every_page_of_twilio_is_read() -> None:
    path = f"/2010-04-01/Accounts/{ACCOUNT}/Messages.json?Page=1&PageToken=PA1"
    pages = [twilio_page(listed(body="x"), following=path), twilio_page(listed(), listed(sid="SM2"))]

    found, asked = await find("twilio", then(*map(say, pages)))

    assert found == [Accepted(SID, "queued", 1), Accepted("SM2", "queued", 1)]
    assert asked[1] == f"GET {path}"


@pytest.mark.parametrize(
    "following", ["http://192.0.2.1/", "//192.0.2.1/", "/2010-04-01/Accounts/AC2/Messages.json", 7, ""]
)
async def test_a_page_outside_the_account_is_not_asked_for(following: object) -> None:
    with pytest.raises(ConnectionError, match="next page"):
        await find("twilio", say(twilio_page(listed(body="x"), following=following)))


async def test_a_list_that_does_not_end_proves_nothing() -> None:
    endless = f"/2010-04-01/Accounts/{ACCOUNT}/Messages.json?Page=1"

    with pytest.raises(ConnectionError, match="more than 20 pages"):
        await find("twilio", say(twilio_page(following=endless)))
    with pytest.raises(ConnectionError, match="more than 20 pages"):
        await find("telnyx", say(telnyx_page(of=10**6)))


async def test_telnyx_is_asked_for_the_detail_records_between_two_numbers() -> None:
    found, [asked] = await find("telnyx", say(telnyx_page(record(), record(delivery_status_webhook_url="x"))))

    assert [answer.provider_message_id for answer in found if isinstance(answer, Accepted)] == ["id1"]
    assert asked == (
        "GET /detail_records?filter%5Brecord_type%5D=messaging&filter%5Bdirection%5D=outbound"
        "&filter%5Bcli%5D=%2B14155552345&filter%5Bcld%5D=%2B14155552671"
        "&filter%5Bcreated_at%5D%5Bgte%5D=2026-11-21&page%5Bnumber%5D=1&page%5Bsize%5D=50"
    )


async def test_every_page_of_telnyx_is_read() -> None:
    pages = [telnyx_page(of=2), telnyx_page(record(status="gw_reject", errors=["40300"]), page=2, of=2)]

    found, asked = await find("telnyx", then(*map(say, pages)))

    assert found == [Rejected(FailureCode.opted_out, "40300")]
    assert "page%5Bnumber%5D=2" in asked[1]


async def test_no_detail_record_proves_nothing() -> None:
    with pytest.raises(ConnectionError, match="no detail record"):
        await find("telnyx", say(telnyx_page(record(delivery_status_webhook_url="https://x/?reference=77"))))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "answering",
    [
        say(reply(500, b"")),
        say(reply(401, b"{}")),
        say(reply(429, b"{}")),
        say(reply(200, b"[]")),
        say(reply(200, b"{")),
        say_and_close(b"HTTP/1.1 200 OK\r\n"),
    ],
)
async def test_a_list_that_cannot_be_read_proves_nothing(kind: str, answering: Answering) -> None:
    with pytest.raises(ConnectionError):
        await find(kind, answering)


@pytest.mark.parametrize("status", [204, 404, 400])
async def test_copies_at_twilio_are_deleted_by_their_ids(status: int) -> None:
    body = b"" if status == 204 else b'{"code":20404}'
    async with served("twilio", say(reply(status, body))) as (carrier, peer):
        await carrier.delete_copies([CarriedMessage(7, SID), CarriedMessage(8, None), CarriedMessage(9, "../x")])

    paths = [head.partition(" HTTP")[0] for head, _ in peer.requests]
    messages = f"DELETE /2010-04-01/Accounts/{ACCOUNT}/Messages"
    assert paths == [f"{messages}/{SID}.json", f"{messages}/..%2Fx.json"]


@pytest.mark.parametrize(
    "answer",
    [
        reply(500, b""),
        reply(429, b""),
        reply(409, b'{"code":20009}'),
        reply(401, b'{"code":20003}'),
        reply(402, b""),
        reply(403, b'{"code":20005}'),
        reply(302, b""),
        reply(404, b"<html>Not Found</html>"),
        b"HTTP/1.1 204 No Content\r\n",
    ],
)
async def test_a_copy_that_twilio_did_not_delete_is_to_be_deleted_later(answer: bytes) -> None:
    async with served("twilio", say_and_close(answer)) as (carrier, _):
        with pytest.raises(ConnectionError):
            await carrier.delete_copies([CarriedMessage(7, SID)])


async def test_telnyx_deletes_no_message_on_demand() -> None:
    async with served("telnyx", say(reply(200, b"{}"))) as (carrier, peer):
        await carrier.delete_copies([CarriedMessage(7, "id1")])

    assert peer.requests == []


async def test_an_account_at_twilio_is_asked_for_its_status_and_numbers() -> None:
    numbers = [
        {"phone_number": "+14155552345", "friendly_name": "Shop", "capabilities": {"sms": True}},
        {"phone_number": "+14155552346", "friendly_name": "Fax", "capabilities": {"sms": False}},
        {"phone_number": 7, "capabilities": "sms"},
    ]
    account = reply(200, b'{"friendly_name":"Blue Door","status":"active"}')
    listing = reply(200, orjson.dumps({"incoming_phone_numbers": numbers, "next_page_uri": None}))
    async with served("twilio", then(say(account), say(listing))) as (carrier, peer):
        assert await carrier.check() == CarrierAccount("Blue Door", {"status": "active"})
        assert await carrier.list_numbers() == [CarrierNumber("+14155552345", "Shop")]

    assert [head.partition(" HTTP")[0] for head, _ in peer.requests] == [
        f"GET /2010-04-01/Accounts/{ACCOUNT}.json",
        f"GET /2010-04-01/Accounts/{ACCOUNT}/IncomingPhoneNumbers.json?PageSize=100",
    ]


async def test_an_account_at_telnyx_is_asked_for_its_numbers() -> None:
    page = telnyx_page({"phone_number": "+14155552345"}, {"phone_number": None})
    async with served("telnyx", say(page)) as (carrier, peer):
        assert await carrier.check() == CarrierAccount("", {"numbers": "1"})
        assert await carrier.list_numbers() == [CarrierNumber("+14155552345")]

    assert [head.partition(" HTTP")[0] for head, _ in peer.requests] == [
        "GET /phone_numbers/messaging?page%5Bsize%5D=1",
        "GET /phone_numbers/messaging?page%5Bnumber%5D=1&page%5Bsize%5D=50",
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (reply(401, b"{}"), ConnectionRefused),
        (reply(404, b"{}"), ConnectionRefused),
        (reply(429, b"{}"), ConnectionError),
        (reply(500, b"{}"), ConnectionError),
        (reply(200, b"[]"), ConnectionError),
    ],
)
async def test_a_connection_that_is_refused_is_told_from_one_that_fails(
    kind: str, answer: bytes, error: type[Exception]
) -> None:
    async with served(kind, say(answer)) as (carrier, _):
        with pytest.raises(error):
            await carrier.check()
        with pytest.raises(error):
            await carrier.list_numbers()


async def test_an_account_at_twilio_that_is_closed_is_refused() -> None:
    async with served("twilio", say(reply(200, b'{"status":"suspended"}'))) as (carrier, _):
        with pytest.raises(ConnectionRefused, match="suspended"):
            await carrier.check()


def test_the_time_of_a_signature_is_that_of_the_carrier() -> None:
    request = CallbackRequest("", {"telnyx-timestamp": "1700000000"}, b"")
    nonsense = CallbackRequest("", {"telnyx-timestamp": "soon"}, b"")

    assert telnyx().find_signing_time(request) == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
    assert (telnyx().find_signing_time(nonsense), twilio().find_signing_time(request)) == (None, None)


CARRIED = CarriedMessage(7, SID)


def twilio_message(**fields: Any) -> bytes:
    return reply(200, orjson.dumps(listed(**fields)))


def telnyx_message(status: str, **fields: Any) -> bytes:
    url = f"{PUBLIC_URL}/carriers/telnyx/status?reference=7"
    cost = {"amount": "0.0051", "currency": "USD"}
    to = [{"phone_number": MESSAGE.to_number, "status": status}]
    said = {"id": SID, "to": to, "webhook_url": url, "parts": 2, "cost": cost, "errors": [], **fields}
    return reply(200, orjson.dumps({"data": said}))


async def ask(kind: str, answering: Answering) -> tuple[Receipt | None, str]:
    """Ask for the status of the message; return the receipt and the first line of the question."""
    async with served(kind, answering) as (carrier, peer):
        assert carrier.capabilities.answers_status_queries
        receipt = await carrier.query_status(CARRIED)
    return receipt, peer.requests[0][0].partition(" HTTP")[0]


async def test_twilio_is_asked_for_a_message_by_its_sid() -> None:
    said = twilio_message(status="undelivered", error_code=30003, price="-0.00790", price_unit="USD")

    receipt, asked = await ask("twilio", say(said))

    charge = Charge(Decimal("0.00790"), "USD")
    failed = ReceiptStatus.failed
    assert receipt == Receipt(SID, failed, "undelivered", FailureCode.unreachable, "30003", parts=1, charge=charge)
    assert asked == f"GET /2010-04-01/Accounts/{ACCOUNT}/Messages/{SID}.json"


async def test_telnyx_is_asked_for_a_message_by_its_id() -> None:
    said = telnyx_message("delivery_failed", errors=[{"code": "40001"}])

    receipt, asked = await ask("telnyx", say(said))

    charge = Charge(Decimal("0.0051"), "USD")
    about = {"reference": 7, "parts": 2, "charge": charge}
    failed = ReceiptStatus.failed
    assert receipt == Receipt(SID, failed, "delivery_failed", FailureCode.landline, "40001", **about)
    assert asked == f"GET /messages/{SID}"


@pytest.mark.parametrize(
    ("kind", "said", "status"),
    [
        ("twilio", twilio_message(status="delivered"), ReceiptStatus.delivered),
        ("twilio", twilio_message(status="sent"), ReceiptStatus.sent),
        ("twilio", twilio_message(status="queued"), ReceiptStatus.pending),
        ("telnyx", telnyx_message("delivered"), ReceiptStatus.delivered),
        ("telnyx", telnyx_message("sent"), ReceiptStatus.sent),
        ("telnyx", telnyx_message("delivery_unconfirmed"), ReceiptStatus.unconfirmed),
    ],
)
async def test_the_present_status_of_a_message_is_that_of_a_callback(
    kind: str, said: bytes, status: ReceiptStatus
) -> None:
    receipt, _ = await ask(kind, say(said))

    assert receipt is not None
    assert (receipt.status, receipt.code) == (status, None)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("twilio", reply(404, b'{"code": 20404}')),
        ("twilio", twilio_message(status="other")),
        ("twilio", twilio_message(sid=None)),
        ("telnyx", reply(404, b'{"errors": [{"code": "10005"}]}')),
        ("telnyx", telnyx_message("other")),
        ("telnyx", reply(200, b"{}")),
    ],
)
async def test_a_message_that_a_carrier_does_not_know_has_no_status(kind: str, said: bytes) -> None:
    assert (await ask(kind, say(said)))[0] is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [401, 403, 408, 500, 503])
async def test_a_refusal_of_the_caller_and_an_error_of_the_carrier_are_no_status(kind: str, status: int) -> None:
    with pytest.raises(ConnectionError, match=f"HTTP {status}"):
        await ask(kind, say(reply(status, b"{}")))


@pytest.mark.parametrize("kind", KINDS)
async def test_a_limited_question_has_the_wait_that_the_carrier_asks_for(kind: str) -> None:
    with pytest.raises(CarrierBusy) as raised:
        await ask(kind, say(reply(429, b"{}", b"retry-after: 7\r\n")))

    assert raised.value.retry_after == 7

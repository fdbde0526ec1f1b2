"""What Twilio and Telnyx answer to a hand-off, and what it means for the message."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import orjson
import pytest

from app.domain.carriers.carrier import Accepted, Ambiguous, Charge, FailureCode, Limited, Rejected
from app.providers.carriers.telnyx import errors as telnyx_errors
from app.providers.carriers.twilio import errors as twilio_errors
from tests.providers.carrier_apis import ACCOUNT, API_KEY, MESSAGE, OPEN, PUBLIC_URL, reply, send, served
from tests.providers.peers import Answering, say, say_and_close, say_and_reset

pytestmark = pytest.mark.anyio

KINDS = sorted(OPEN)
SID, ID = "SM" + "1" * 32, "40385f64-5717-4562-b3fc-2c963f66afa6"


def twilio_message(**fields: Any) -> bytes:
    message = {"sid": SID, "status": "queued", "num_segments": "2", "price": None, "price_unit": "USD"}
    return orjson.dumps({**message, "error_code": None, **fields})


def telnyx_message(**fields: Any) -> bytes:
    to = [{"phone_number": MESSAGE.to_number, "status": "queued"}]
    cost = {"amount": "0.0051", "currency": "USD"}
    return orjson.dumps({"data": {"id": ID, "to": to, "parts": 2, "cost": cost, "errors": [], **fields}})


GOOD: dict[str, Callable[..., bytes]] = {"twilio": twilio_message, "telnyx": telnyx_message}


def refusal(kind: str, code: int) -> bytes:
    if kind == "twilio":
        return orjson.dumps({"code": code, "message": f"not to {MESSAGE.to_number}", "more_info": "", "status": 400})
    return orjson.dumps({"errors": [{"code": str(code), "title": "No", "detail": f"not to {MESSAGE.to_number}"}]})


def never() -> Answering:
    return say(b"HTTP/1.1 201 Created\r\ncontent-length: 100\r\n\r\n{")


async def test_twilio_is_given_a_form_with_our_reference_in_the_address_of_callbacks() -> None:
    async with served("twilio", say(reply(201, twilio_message()))) as (carrier, peer):
        answer = await carrier.send(MESSAGE)

    assert answer == Accepted(SID, "queued", 2)
    [(head, body)] = peer.requests
    assert head.startswith(f"POST /2010-04-01/Accounts/{ACCOUNT}/Messages.json HTTP/1.1\r\n")
    assert "content-type: application/x-www-form-urlencoded\r\n" in head
    assert "authorization: Basic QUNh" in head
    assert body == (
        b"To=%2B14155552671&From=%2B14155552345&Body=Hello+%26+100+%25+%C3%A9"
        b"&SmartEncoded=false"
        b"&StatusCallback=https%3A%2F%2Fsms.example.com%2Fcarriers%2Ftwilio%2Fstatus%3Freference%3D7"
    )


async def test_telnyx_is_given_json_with_our_reference_in_the_address_of_callbacks() -> None:
    async with served("telnyx", say(reply(200, telnyx_message()))) as (carrier, peer):
        answer = await carrier.send(MESSAGE)

    assert answer == Accepted(ID, "queued", 2, Charge(Decimal("0.0051"), "USD"))
    [(head, body)] = peer.requests
    assert head.startswith("POST /messages HTTP/1.1\r\n")
    assert f"authorization: Bearer {API_KEY}\r\n" in head
    assert orjson.loads(body) == {
        "from": "+14155552345",
        "to": "+14155552671",
        "text": "Hello & 100 % é",
        "webhook_url": f"{PUBLIC_URL}/carriers/telnyx/status?reference=7",
        "use_profile_webhooks": False,
    }


async def test_a_price_of_twilio_is_a_charge_without_its_sign() -> None:
    answer = await send("twilio", say(reply(201, twilio_message(price="-0.00790", price_unit="usd"))))

    assert answer == Accepted(SID, "queued", 2, Charge(Decimal("0.00790"), "USD"))


async def test_the_parts_of_a_messaging_service_are_not_known_yet() -> None:
    answer = await send("twilio", say(reply(201, twilio_message(num_segments="0", status="accepted"))))

    assert answer == Accepted(SID, "accepted", None)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not JSON",
        b"[]",
        b"null",
        b'"SM1"',
        b"{}",
        b'{"sid":1,"status":"queued"}',
        b'{"sid":"","status":"queued"}',
        b'{"sid":"a\\u0000b","status":"queued"}',
        b'{"sid":"\\ud800","status":"queued"}',
        b'{"data":[]}',
        b'{"data":{"id":7,"to":[{"status":"queued"}]}}',
        b'{"data":{"id":"1","to":{}}}',
        b'{"data":{"id":"1","to":[null]}}',
        b"[" * 100_000,
        b"\xff\xfe",
        b'{"sid":"' + b"1" * 5000 + b'","status":"queued"}',
    ],
)
async def test_an_acceptance_that_is_not_understood_is_ambiguous(kind: str, body: bytes) -> None:
    assert await send(kind, say(reply(200, body))) == Ambiguous("HTTP 200")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "fields",
    [
        {"num_segments": "many", "parts": "many", "price": "x", "cost": "x"},
        {"num_segments": [], "parts": {}, "price": 5, "cost": {"amount": "NaN", "currency": "USD"}},
        {"num_segments": "-1", "parts": -1, "price": "Infinity", "cost": {"amount": "1e9999", "currency": "USD"}},
        {"num_segments": "9" * 5000, "parts": 10**15, "price_unit": "\x00\x00\x00", "price": "1", "cost": []},
        {"num_segments": True, "parts": True},
    ],
)
async def test_odd_parts_and_prices_are_left_out(kind: str, fields: dict[str, Any]) -> None:
    answer = await send(kind, say(reply(200, GOOD[kind](**fields))))

    assert isinstance(answer, Accepted)
    assert answer.parts is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [199, 204, 301, 302, 307, 408, 500, 502, 503, 504, 599, 999])
async def test_any_other_answer_is_ambiguous(kind: str, status: int) -> None:
    answer = await send(kind, say_and_close(reply(status, b"", b"location: http://127.0.0.1:1/\r\n")))

    assert isinstance(answer, Ambiguous)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("answering", "reason"),
    [
        (say_and_close(b""), "closed"),
        (say_and_close(b"HTTP/1.1 201 Created\r\ncontent-length: 100\r\n\r\n{"), "closed"),
        (say_and_reset(b""), "closed"),
        (say(b"SMTP ready\r\n"), "protocol"),
    ],
)
async def test_an_answer_that_is_cut_is_ambiguous(kind: str, answering: Answering, reason: str) -> None:
    assert await send(kind, answering) == Ambiguous(reason)


@pytest.mark.parametrize("kind", KINDS)
async def test_an_answer_that_is_late_is_ambiguous(kind: str) -> None:
    assert await send(kind, never(), 0.2) == Ambiguous("timeout")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_carrier_that_was_never_reached_has_no_message(kind: str) -> None:
    answer = await OPEN[kind]("http://127.0.0.1:1").send(MESSAGE)

    assert answer == Rejected(FailureCode.carrier_error, "connect", retryable=True)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("url", ["http://192.0.2.1", "ftp://127.0.0.1", "nonsense", "http://169.254.169.254/latest"])
async def test_an_address_that_is_not_allowed_is_not_called(kind: str, url: str) -> None:
    answer = await OPEN[kind](url).send(MESSAGE)

    assert isinstance(answer, Rejected)
    assert answer.carrier_error in ("refused_address", "invalid_url")


@pytest.mark.parametrize(
    ("kind", "code", "failure"),
    [("twilio", code, failure) for code, failure in twilio_errors.CODES.items()]
    + [("telnyx", code, failure) for code, failure in telnyx_errors.CODES.items()],
)
async def test_each_known_code_is_understood(kind: str, code: int, failure: FailureCode) -> None:
    answer = await send(kind, say(reply(400, refusal(kind, code))))

    assert isinstance(answer, Rejected)
    assert (answer.code, answer.carrier_error) == (failure, str(code))
    assert answer.retryable is (failure is FailureCode.rate_limited)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("status", "failure", "retryable"),
    [
        (400, FailureCode.carrier_error, False),
        (401, FailureCode.account_problem, True),
        (402, FailureCode.account_problem, False),
        (403, FailureCode.account_problem, False),
        (404, FailureCode.carrier_error, False),
        (422, FailureCode.carrier_error, False),
    ],
)
@pytest.mark.parametrize("body", [b"", b"<html>", b"[1]", b'{"code":"x","errors":"x"}', b'{"code":-1,"errors":[{}]}'])
async def test_a_refusal_without_a_known_code_is_understood_by_its_status(
    kind: str, status: int, failure: FailureCode, retryable: bool, body: bytes
) -> None:
    answer = await send(kind, say(reply(status, body)))

    assert answer == Rejected(failure, f"HTTP {status}", retryable=retryable)


@pytest.mark.parametrize("kind", KINDS)
async def test_an_unknown_code_is_kept(kind: str) -> None:
    assert await send(kind, say(reply(400, refusal(kind, 98765)))) == Rejected(FailureCode.carrier_error, "98765")


@pytest.mark.parametrize("kind", KINDS)
async def test_refused_credentials_may_be_accepted_later(kind: str) -> None:
    code = {"twilio": 20003, "telnyx": 10009}[kind]

    answer = await send(kind, say(reply(401, refusal(kind, code))))

    assert answer == Rejected(FailureCode.account_problem, str(code), retryable=True)


@pytest.mark.parametrize(
    ("kind", "code", "limited"),
    [
        ("twilio", 20429, Limited.connection),
        ("twilio", 21611, Limited.number),
        ("twilio", 14107, Limited.number),
        ("telnyx", 10011, Limited.connection),
        ("telnyx", 40318, Limited.number),
    ],
)
@pytest.mark.parametrize(
    ("header", "wait"), [(b"", None), (b"retry-after: 7\r\n", timedelta(seconds=7)), (b"retry-after: soon\r\n", None)]
)
async def test_a_limit_says_which_senders_wait_and_for_how_long(
    kind: str, code: int, limited: Limited, header: bytes, wait: timedelta | None
) -> None:
    answer = await send(kind, say(reply(429, refusal(kind, code), header)))

    assert answer == Rejected(FailureCode.rate_limited, str(code), True, limited, wait)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_429_without_a_code_limits_the_connection(kind: str) -> None:
    answer = await send(kind, say(reply(429, b"")))

    assert answer == Rejected(FailureCode.rate_limited, "HTTP 429", True, Limited.connection)


async def test_a_message_that_failed_at_once_is_refused() -> None:
    twilio = await send("twilio", say(reply(201, twilio_message(status="failed", error_code=30034))))
    nameless = await send("twilio", say(reply(201, twilio_message(status="failed"))))
    failed = [{"status": "sending_failed"}]
    telnyx = await send("telnyx", say(reply(200, telnyx_message(to=failed, errors=[{"code": "40300"}]))))

    assert twilio == Rejected(FailureCode.unregistered_sender, "30034", provider_message_id=SID)
    assert nameless == Rejected(FailureCode.carrier_error, "failed", provider_message_id=SID)
    assert telnyx == Rejected(FailureCode.opted_out, "40300")

"""Looking numbers up at Twilio and Telnyx."""

from typing import Any

import orjson
import pytest

from app.domain.carriers.carrier import CarrierBusy, ConnectionRefused, LookedUpNumber
from app.domain.kernel.phone import LineType
from tests.providers.carrier_apis import OPEN, SECRETS, reply, served
from tests.providers.peers import Answering, say

pytestmark = pytest.mark.anyio

PHONE = "+14155552671"
KINDS = sorted(OPEN)


def twilio_line(type: object = "mobile", **fields: Any) -> bytes:
    line = {"carrier_name": "T-Mobile USA, Inc.", "type": type, "error_code": None}
    said = {"valid": True, "country_code": "US", "line_type_intelligence": line}
    return reply(200, orjson.dumps(said | fields))


def telnyx_line(type: object = "mobile", **fields: Any) -> bytes:
    carrier = {"name": "T-Mobile USA, Inc.", "type": type, "error_code": None}
    said = {"valid_number": True, "country_code": "US", "carrier": carrier}
    return reply(200, orjson.dumps({"data": said | fields}))


LINES = {"twilio": twilio_line, "telnyx": telnyx_line}


async def look_up(kind: str, answering: Answering) -> tuple[LookedUpNumber, str]:
    """Look the number up; return the answer and the first line of the question."""
    async with served(kind, answering) as (carrier, peer):
        found = await carrier.lookup(PHONE)
    [(head, _)] = peer.requests
    assert not any(secret in repr(found) for secret in SECRETS)
    return found, head.partition(" HTTP")[0]


@pytest.mark.parametrize(
    ("kind", "question"),
    [
        ("twilio", "GET /v2/PhoneNumbers/%2B14155552671?Fields=line_type_intelligence"),
        ("telnyx", "GET /number_lookup/%2B14155552671?type=carrier"),
    ],
)
async def test_a_carrier_is_asked_once_for_the_line_of_a_number(kind: str, question: str) -> None:
    found, asked = await look_up(kind, say(LINES[kind]()))

    assert found == LookedUpNumber(True, LineType.mobile, "T-Mobile USA, Inc.", "US")
    assert asked == question


@pytest.mark.parametrize(
    ("kind", "type", "line_type"),
    [
        ("twilio", "landline", "landline"),
        ("twilio", "fixedVoip", "voip"),
        ("twilio", "nonFixedVoip", "voip"),
        ("twilio", "tollFree", "toll_free"),
        ("twilio", "personal", "unknown"),
        ("twilio", None, "unknown"),
        ("twilio", ["mobile"], "unknown"),
        ("telnyx", "fixed line", "landline"),
        ("telnyx", "voip", "voip"),
        ("telnyx", "toll free", "toll_free"),
        ("telnyx", "fixed line or mobile", "unknown"),
        ("telnyx", {}, "unknown"),
    ],
)
async def test_a_line_type_of_a_carrier_is_one_of_ours(kind: str, type: object, line_type: str) -> None:
    assert (await look_up(kind, say(LINES[kind](type))))[0].line_type == line_type


@pytest.mark.parametrize(
    ("kind", "answer"),
    [
        ("twilio", reply(200, b'{"valid":false,"country_code":null,"line_type_intelligence":null}')),
        ("telnyx", reply(200, b'{"data":{"valid_number":false,"carrier":null}}')),
        ("telnyx", reply(400, b'{"errors":[{"code":"10002","title":"Invalid phone number"}]}')),
    ],
)
async def test_a_number_that_the_carrier_denies_is_invalid(kind: str, answer: bytes) -> None:
    assert (await look_up(kind, say(answer)))[0] == LookedUpNumber(False)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_country_that_is_none_is_left_out(kind: str) -> None:
    assert (await look_up(kind, say(LINES[kind](country_code="us\n"))))[0].country is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [401, 403])
async def test_refused_credentials_are_told_without_a_secret(kind: str, status: int) -> None:
    with pytest.raises(ConnectionRefused, match=f"HTTP {status}") as refused:
        await look_up(kind, say(reply(status, b"{}")))

    assert not any(secret in str(refused.value) for secret in SECRETS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("headers", "wait"), [(b"retry-after: 7\r\n", 7.0), (b"", None)])
async def test_a_carrier_that_limits_the_rate_tells_its_wait(kind: str, headers: bytes, wait: float | None) -> None:
    with pytest.raises(CarrierBusy) as busy:
        await look_up(kind, say(reply(429, b"{}", headers)))

    assert busy.value.retry_after == wait


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("answer", [reply(500, b"{}"), reply(200, b"[]"), reply(200, b"{")])
async def test_an_answer_that_cannot_be_read_is_an_outage(kind: str, answer: bytes) -> None:
    with pytest.raises(ConnectionError):
        await look_up(kind, say(answer))

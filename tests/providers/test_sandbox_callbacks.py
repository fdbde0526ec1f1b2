"""Reading the sandbox's callbacks: what is signed and well formed, and nothing else."""

import contextlib
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.carriers.carrier import (
    BadSignature,
    CallbackRequest,
    FailureCode,
    InboundMessage,
    MalformedCallback,
    Receipt,
    ReceiptStatus,
)
from app.providers.carriers.sandbox.carrier import SandboxCarrier
from app.providers.carriers.sandbox.signature import sign, verify

SECRET = b"secret"
NOW = 1_700_000_000.0
AT = "2026-11-21T09:30:00+00:00"
STATUS = {"id": "sbx_12", "reference": 12, "status": "failed", "code": "filtered", "at": AT}
INBOUND = {"id": "sbx_in_1", "from": "+15005550401", "to": "+14155550199", "text": "STOP", "at": AT}

CARRIER = SandboxCarrier(None, SECRET, 0.0, 1.0, now=lambda: NOW)

# openssl: printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac secret
VECTOR = "t=1700000000,v1=49f24e537407743fa4a0242bb63b94b9a47ee99cbbe071ccd8a22550ae411686"

broken = [
    *({name: value for name, value in STATUS.items() if name != missing} for missing in STATUS),
    STATUS | {"extra": 1},
    STATUS | {"id": ""},
    STATUS | {"id": "sbx_\x00"},
    STATUS | {"reference": "12"},
    STATUS | {"reference": 12.0},
    STATUS | {"reference": True},
    STATUS | {"reference": 0},
    STATUS | {"reference": 2**63},
    STATUS | {"status": "lost"},
    STATUS | {"status": "delivered"},
    STATUS | {"code": "gremlins"},
    STATUS | {"code": None},
    STATUS | {"at": "yesterday"},
    STATUS | {"at": "2026-11-21T09:30:00"},
    [STATUS],
    None,
]

broken_inbound = [
    *({name: value for name, value in INBOUND.items() if name != missing} for missing in INBOUND),
    INBOUND | {"from": 15005550401},
    INBOUND | {"to": ""},
    INBOUND | {"text": None},
    INBOUND | {"text": "a\x00b"},
    INBOUND | {"sender": "+15005550401"},
    STATUS,
]

values = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text() | st.just(AT)
)
documents = st.recursive(values, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5)
statuses = st.fixed_dictionaries({name: values | st.just(value) for name, value in STATUS.items()})
inbounds = st.fixed_dictionaries({name: values | st.just(value) for name, value in INBOUND.items()})
bodies = st.binary() | (documents | statuses | inbounds).map(lambda said: orjson.dumps(said))


def signed(body: bytes) -> CallbackRequest:
    return CallbackRequest("https://example.com", {"x-sandbox-signature": sign(SECRET, body, NOW)}, body)


def test_a_status_is_read_into_a_receipt() -> None:
    receipts = CARRIER.parse_receipts(signed(orjson.dumps(STATUS)))

    at = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
    assert receipts == [
        Receipt("sbx_12", ReceiptStatus.failed, "failed", FailureCode.filtered, "filtered", reference=12, at=at)
    ]


def test_an_inbound_text_is_read() -> None:
    inbound = CARRIER.parse_inbound(signed(orjson.dumps(INBOUND)))

    at = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
    assert inbound == [InboundMessage("sbx_in_1", "+15005550401", "+14155550199", "STOP", at)]


@pytest.mark.parametrize("said", broken)
def test_a_status_that_lacks_or_mistypes_anything_is_malformed(said: Any) -> None:
    with pytest.raises(MalformedCallback):
        CARRIER.parse_receipts(signed(orjson.dumps(said)))


@pytest.mark.parametrize("said", broken_inbound)
def test_an_inbound_text_that_lacks_or_mistypes_anything_is_malformed(said: Any) -> None:
    with pytest.raises(MalformedCallback):
        CARRIER.parse_inbound(signed(orjson.dumps(said)))


@given(bodies)
def test_any_signed_body_is_read_or_malformed(body: bytes) -> None:
    for parse in (CARRIER.parse_receipts, CARRIER.parse_inbound):
        with contextlib.suppress(MalformedCallback):
            assert len(parse(signed(body))) == 1


@given(body=st.binary(), header=st.text() | st.from_regex(r"t=[0-9]+,v1=[0-9a-f]{64}", fullmatch=True))
def test_no_body_without_its_signature_is_read(body: bytes, header: str) -> None:
    request = CallbackRequest("https://example.com", {"x-sandbox-signature": header}, body)

    for parse in (CARRIER.parse_receipts, CARRIER.parse_inbound):
        with pytest.raises(BadSignature):
            parse(request)


def test_a_body_without_any_signature_is_not_read() -> None:
    with pytest.raises(BadSignature, match="the signature is missing"):
        CARRIER.parse_receipts(CallbackRequest("https://example.com", {}, orjson.dumps(STATUS)))


def test_a_changed_body_is_not_read() -> None:
    request = signed(orjson.dumps(STATUS))

    with pytest.raises(BadSignature, match="does not fit the body"):
        CARRIER.parse_receipts(CallbackRequest(request.url, request.headers, request.body + b" "))


def test_the_signature_is_hmac_sha256_of_time_and_body() -> None:
    assert sign(b"secret", b'{"a":1}', NOW) == VECTOR


@pytest.mark.parametrize("seconds", [-300, 0, 300])
def test_a_signature_is_good_for_five_minutes(seconds: int) -> None:
    verify(SECRET, b"body", sign(SECRET, b"body", NOW), NOW + seconds)


@pytest.mark.parametrize("seconds", [-301, 301])
def test_a_signature_is_bad_after_five_minutes(seconds: int) -> None:
    with pytest.raises(BadSignature, match="more than 300 seconds"):
        verify(SECRET, b"body", sign(SECRET, b"body", NOW), NOW + seconds)


def test_a_signature_by_another_secret_is_bad() -> None:
    with pytest.raises(BadSignature, match="does not fit"):
        verify(SECRET, b"body", sign(b"other", b"body", NOW), NOW)

"""Signatures of Telnyx's callbacks: the vector, their age, and forgeries."""

import base64

import pytest

from app.domain.carriers.carrier import BadSignature, CallbackRequest
from app.providers.carriers.telnyx.signature import read_key, verify
from tests.providers.carrier_apis import NOW, PUBLIC_KEY, SIGNING, telnyx

BODY = b'{"data":{"event_type":"message.finalized"}}'
SIGNATURE = "LhN3MIGk9cmb3dnYnff5iMTHrW35qZFb7JZ12PHvgI0YnPxwMnMdtxhqDg6tu14XL6YM3QpsXZORwlzAJqAxCA=="


def request(body: bytes = BODY, signature: str = SIGNATURE, moment: str = str(NOW)) -> CallbackRequest:
    headers = {"telnyx-signature-ed25519": signature, "telnyx-timestamp": moment}
    return CallbackRequest("https://sms.example.com/carriers/telnyx/status", headers, body)


def accepts(callback: CallbackRequest, now: float = NOW, key: str = PUBLIC_KEY) -> bool:
    try:
        verify(read_key(key), callback, now)
    except BadSignature:
        return False
    return True


def test_the_public_key_is_that_of_the_vector() -> None:
    assert PUBLIC_KEY == "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg="


def test_the_signature_of_the_vector_is_accepted() -> None:
    assert accepts(request())


@pytest.mark.parametrize(("age", "good"), [(300, True), (-300, True), (301, False), (-301, False)])
def test_a_signature_counts_for_300_seconds(age: int, good: bool) -> None:
    assert accepts(request(), NOW + age) is good


def test_another_body_time_or_key_is_refused() -> None:
    assert not accepts(request(BODY + b" "))
    assert not accepts(request(moment=str(NOW + 1)))
    assert not accepts(request(), key=base64.b64encode(bytes(32)).decode())


@pytest.mark.parametrize("moment", ["", "0x10", "1e9", "-1", "١٧٠٠٠٠٠٠٠٠", "9" * 400, " 1700000000", "1700000000.0"])
def test_a_time_that_is_no_number_is_refused(moment: str) -> None:
    assert not accepts(request(moment=moment))


@pytest.mark.parametrize("signature", ["", "====", "é", SIGNATURE[:-4], SIGNATURE + "AAAA", "x" * 100_000])
def test_another_signature_is_refused(signature: str) -> None:
    assert not accepts(request(signature=signature))


def test_a_request_without_the_headers_is_refused() -> None:
    assert not accepts(CallbackRequest("https://sms.example.com", {}, BODY))


def test_a_callback_is_not_read_before_its_signature_is_verified() -> None:
    with pytest.raises(BadSignature):
        telnyx().parse_receipts(request(b"not JSON"))
    with pytest.raises(BadSignature):
        telnyx().parse_inbound(request(b"not JSON"))


def test_a_signature_counts_for_the_time_that_it_was_made_at() -> None:
    body = b'{"data":{"event_type":"something.new"}}'
    signature = base64.b64encode(SIGNING.sign(b"%d|" % NOW + body)).decode()

    assert telnyx().parse_receipts(request(body, signature)) == []

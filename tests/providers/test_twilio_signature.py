"""Signatures of Twilio's callbacks: its published vectors, every spelling of an address, and forgeries."""

import hashlib
from urllib.parse import urlencode

import pytest

from app.domain.carriers.carrier import BadSignature, CallbackRequest, Receipt
from app.providers.carriers.twilio.signature import FORM, SHA256, Verifier, read_form, sign
from tests.providers.carrier_apis import ACCOUNT, TOKEN, twilio

PUBLISHED = (
    "https://mycompany.com/myapp.php?foo=1&bar=2",
    {
        "CallSid": "CA1234567890ABCDE",
        "Digits": "1234",
        "From": "+14158675309",
        "To": "+18005551212",
        "Caller": "+14158675309",
    },
    "RSOYDt4T1cUTdK1PDd93/VVr8B8=",
)
STATUS = (
    "https://sms.example.com/carriers/twilio/status",
    {
        "MessageSid": "SM00000000000000000000000000000001",
        "MessageStatus": "delivered",
        "To": "+14155552671",
        "From": "+14155552345",
        "AccountSid": ACCOUNT,
        "ApiVersion": "2010-04-01",
    },
    "ObVDcBnjFsBDGjZbfemUE01WupY=",
)
URL, FIELDS, SIGNATURE = STATUS
SETTINGS = {"x-twilio-webhooks-signature-settings": "key=webhooks_sharedkey_1,algorithm=HMAC_SHA256"}


def request(
    url: str = URL, body: bytes | None = None, signature: str = SIGNATURE, content_type: str = FORM, **headers: str
) -> CallbackRequest:
    content = urlencode(FIELDS).encode() if body is None else body
    return CallbackRequest(url, {"x-twilio-signature": signature, "content-type": content_type, **headers}, content)


def accepts(callback: CallbackRequest, token: str = TOKEN, webhook_secret: str | None = "shared") -> bool:
    try:
        Verifier(token, webhook_secret).verify(callback)
    except BadSignature:
        return False
    return True


def signed(url: str, body: bytes, **headers: str) -> CallbackRequest:
    return request(url, body, sign(TOKEN, url, read_form(body)).decode(), **headers)


@pytest.mark.parametrize(("url", "fields", "signature"), [PUBLISHED, STATUS])
def test_the_published_signatures_are_accepted(url: str, fields: dict[str, str], signature: str) -> None:
    assert accepts(request(url, urlencode(fields).encode(), signature))


def test_fields_count_in_any_order() -> None:
    assert accepts(request(body=urlencode(list(reversed(FIELDS.items()))).encode()))


@pytest.mark.parametrize(
    "url",
    [
        URL.replace("https", "http"),
        URL + "?reference=7",
        URL.replace("status", "inbound"),
        URL.replace("sms.example.com", "sms.example.org"),
        URL + "/",
    ],
)
def test_another_address_is_refused(url: str) -> None:
    assert not accepts(request(url))


@pytest.mark.parametrize(
    "body",
    [
        urlencode({**FIELDS, "MessageStatus": "failed"}).encode(),
        urlencode({**FIELDS, "New": "1"}).encode(),
        urlencode({key: value for key, value in FIELDS.items() if key != "ApiVersion"}).encode(),
        b"",
    ],
)
def test_another_form_is_refused(body: bytes) -> None:
    assert not accepts(request(body=body))


@pytest.mark.parametrize("signature", ["", SIGNATURE[:-1], SIGNATURE + "=", SIGNATURE.lower(), "é", "x" * 100_000])
def test_another_signature_is_refused(signature: str) -> None:
    assert not accepts(request(signature=signature))


def test_a_signature_of_another_token_is_refused() -> None:
    assert not accepts(request(), token="54321")


def test_unknown_fields_are_signed_too() -> None:
    body = urlencode({**FIELDS, "RawDlrDoneDate": "2611231200", "Ünïcode": "日本 \x00", "Empty": ""}).encode()

    assert accepts(signed(URL, body))


def test_equal_fields_are_signed_once_and_sorted_by_value() -> None:
    once = sign(TOKEN, URL, read_form(b"A=1&A=2&B=3"))

    assert sign(TOKEN, URL, read_form(b"B=3&A=2&A=1&A=2")) == once
    assert accepts(request(body=b"A=2&A=1&B=3", signature=once.decode()))
    assert not accepts(request(body=b"A=2&B=3", signature=once.decode()))


@pytest.mark.parametrize(
    ("called", "signed_as"),
    [
        ("https://sms.example.com/s?a=1", "https://sms.example.com:443/s?a=1"),
        ("https://sms.example.com:443/s?a=1", "https://sms.example.com/s?a=1"),
        ("https://sms.example.com:8443/s?a=1", "https://sms.example.com/s?a=1"),
        ("https://sms.example.com:8443/s?a=1", "https://sms.example.com:8443/s?a=1"),
        ("http://127.0.0.1/s", "http://127.0.0.1:80/s"),
        ("http://[::1]:8000/s", "http://[::1]/s"),
    ],
)
def test_an_address_is_signed_with_its_port_or_without(called: str, signed_as: str) -> None:
    signature = sign(TOKEN, signed_as, read_form(b"A=1")).decode()

    assert accepts(request(called, b"A=1", signature))


def test_a_body_that_is_no_form_counts_by_its_hash_in_the_address() -> None:
    body = b'{"MessageSid":"SM1"}'
    url = f"{URL}?bodySHA256={hashlib.sha256(body).hexdigest()}"
    signature = sign(TOKEN, url, []).decode()

    assert accepts(request(url, body, signature, "application/json"))
    assert not accepts(request(url, body + b" ", signature, "application/json"))


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", ""])
def test_a_body_that_the_signature_does_not_cover_is_refused(content_type: str) -> None:
    body = urlencode(FIELDS).encode()

    assert not accepts(request(URL, body, sign(TOKEN, URL, []).decode(), content_type))


def test_a_signature_with_sha256_counts_by_the_shared_secret() -> None:
    body = urlencode(FIELDS).encode()
    signature = sign("shared", URL, read_form(body), SHA256).decode()

    assert accepts(request(URL, body, signature, **SETTINGS))
    assert not accepts(request(URL, body, signature))
    assert not accepts(request(URL, body, signature, **SETTINGS), webhook_secret="other")
    assert not accepts(request(URL, body, signature, **SETTINGS), webhook_secret=None)
    assert not accepts(request(URL, body, sign(TOKEN, URL, read_form(body), SHA256).decode(), **SETTINGS))


@pytest.mark.parametrize("algorithm", ["HMAC_MD5", "none", "HMAC_SHA1, algorithm=HMAC_SHA256"])
def test_a_signature_of_an_unknown_kind_is_refused(algorithm: str) -> None:
    settings = {"x-twilio-webhooks-signature-settings": f"key=k,algorithm={algorithm}"}

    assert accepts(request(**settings)) == algorithm.startswith("HMAC_SHA1")


def test_a_form_with_a_million_fields_is_refused_unread() -> None:
    assert not accepts(request(body=b"&".join([b"a=1"] * 1_000_000)))


def test_a_callback_is_not_read_before_its_signature_is_verified() -> None:
    with pytest.raises(BadSignature):
        twilio().parse_receipts(request(body=b"MessageStatus=nonsense"))
    with pytest.raises(BadSignature):
        twilio().parse_inbound(request(body=b"MessageStatus=nonsense"))


def test_a_signed_callback_is_read() -> None:
    assert [type(each) for each in twilio().parse_receipts(request())] == [Receipt]

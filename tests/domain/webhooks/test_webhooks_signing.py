"""Signatures, as the official libraries of Standard Webhooks read them."""

import base64
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook, WebhookVerificationError

from app.domain.kernel.errors import InvalidInput
from app.domain.webhooks import signing
from tests.node import NODE, install

STANDARD = Path(__file__).with_name("standard")
BODY = '{"body":"Grüße, 50 € 👋"}'.encode()


def headers(secrets: list[str], body: bytes, at: int | None = None) -> dict[str, str]:
    at = int(time.time()) if at is None else at
    id = "evt_0193"
    return {
        "webhook-id": id,
        "webhook-timestamp": str(at),
        "webhook-signature": signing.sign([signing.Signer(each) for each in secrets], id, at, body),
    }


@given(st.text(), st.integers(1, 3))
def test_the_python_library_verifies_a_signed_request(text: str, count: int) -> None:
    secrets = [signing.make_secret() for _ in range(count)]
    body = orjson.dumps({"text": text.encode("utf-8", "replace").decode()})

    signed = headers(secrets, body)

    assert [Webhook(secret).verify(body, signed) for secret in secrets] == [orjson.loads(body)] * count


@pytest.mark.parametrize(
    "changed",
    [
        {"body": BODY + b" "},
        {"webhook-id": "evt_0194"},
        {"webhook-timestamp": str(int(time.time()) + 1)},
        {"webhook-signature": "v1,AAAA"},
        {"secret": signing.make_secret()},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_the_python_library_refuses_a_tampered_request(changed: dict[str, str]) -> None:
    secret = signing.make_secret()
    signed = headers([secret], BODY) | {name: value for name, value in changed.items() if name.startswith("webhook")}

    with pytest.raises(WebhookVerificationError):
        Webhook(changed.get("secret", secret)).verify(changed.get("body", BODY), signed)


def test_the_javascript_library_verifies_a_signed_request_and_refuses_a_tampered_one() -> None:
    secrets = [signing.make_secret(), signing.make_secret()]
    signed = headers(secrets, BODY)
    cases = [
        *({"secret": secret, "headers": signed, "body": BODY.decode()} for secret in secrets),
        {"secret": secrets[0], "headers": signed, "body": BODY.decode() + " "},
        {"secret": secrets[0], "headers": headers(secrets, BODY, at=int(time.time()) - 3600), "body": BODY.decode()},
        {"secret": signing.make_secret(), "headers": signed, "body": BODY.decode()},
        {"secret": secrets[0], "headers": signed | {"webhook-id": "evt_0194"}, "body": BODY.decode()},
        {"secret": secrets[0], "headers": signed | {"webhook-signature": "v1,AAAA"}, "body": BODY.decode()},
    ]

    done = subprocess.run(
        [NODE, install(STANDARD) / "verify.mjs"], input=orjson.dumps(cases), stdout=subprocess.PIPE, check=True
    )

    assert orjson.loads(done.stdout) == [True, True, *[False] * 5]


def test_a_secret_is_32_random_bytes_that_a_subscriber_may_choose_too() -> None:
    secret = signing.make_secret()

    assert secret.startswith("whsec_")
    assert len(base64.b64decode(secret.removeprefix("whsec_"), validate=True)) == 32
    assert signing.check_secret(secret) == secret
    assert signing.make_secret() != secret


@pytest.mark.parametrize("size", [24, 64])
def test_a_chosen_secret_may_have_24_to_64_bytes(size: int) -> None:
    secret = "whsec_" + base64.b64encode(bytes(size)).decode()

    assert signing.check_secret(secret) == secret


@pytest.mark.parametrize(
    "secret",
    [
        "",
        "whsec_",
        "whsec_" + base64.b64encode(bytes(23)).decode(),
        "whsec_" + base64.b64encode(bytes(65)).decode(),
        base64.b64encode(bytes(32)).decode(),
        "whsec_" + base64.b64encode(bytes(32)).decode().rstrip("="),
        "whsec_" + "é" * 44,
        "whsec_!" + base64.b64encode(bytes(32)).decode(),
    ],
)
def test_any_other_secret_is_refused(secret: str) -> None:
    with pytest.raises(InvalidInput, match="24 to 64 random bytes"):
        signing.check_secret(secret)


@given(st.integers(1, 2**62 - 1), st.integers(0, 10**6))
def test_the_id_of_an_event_is_a_uuid_of_version_7_and_the_same_each_time(event_id: int, seconds: int) -> None:
    at = datetime(2026, 11, 21, tzinfo=UTC) + timedelta(seconds=seconds)

    id = signing.webhook_id(at, event_id)

    digits = id.removeprefix("evt_")
    assert (len(digits), digits[12]) == (32, "7")
    assert digits[16] in "89ab"
    assert int(digits[:12], 16) == int(at.timestamp() * 1000)
    assert signing.webhook_id(at, event_id) == id != signing.webhook_id(at, event_id + 1)

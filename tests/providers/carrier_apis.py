"""Connections to Twilio and Telnyx whose APIs are local peers."""

import base64
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from app.domain.carriers.carrier import Answer, Carrier, OutboundMessage
from app.providers.carrier_api import CarrierHttp
from app.providers.carriers.telnyx.carrier import TelnyxCarrier
from app.providers.carriers.telnyx.settings import TelnyxCredentials, TelnyxSettings
from app.providers.carriers.twilio.carrier import TwilioCarrier
from app.providers.carriers.twilio.settings import TwilioCredentials, TwilioSettings
from tests.providers.peers import Answering, Peer, serve
from tests.providers.posting import open_poster

ACCOUNT = "AC" + "a" * 32
TOKEN = "12345"
API_KEY = "KEY_of_the_tests"
SIGNING = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC_KEY = base64.b64encode(SIGNING.public_key().public_bytes_raw()).decode()
PUBLIC_URL = "https://sms.example.com"
NOW = 1_700_000_000
MESSAGE = OutboundMessage(7, "+14155552345", "+14155552671", "Hello & 100 % é", 1)
SECRETS = (TOKEN, API_KEY, base64.b64encode(f"{ACCOUNT}:{TOKEN}".encode()).decode())


def http_to(timeout: float = 10.0, connect_timeout: float = 10.0) -> CarrierHttp:
    client = open_poster(timeout=timeout, connect_timeout=connect_timeout)
    return CarrierHttp(client, PUBLIC_URL, timeout, lambda: NOW)


def twilio(
    api_url: str = "http://127.0.0.1:1", http: CarrierHttp | None = None, **settings: str | int
) -> TwilioCarrier:
    return TwilioCarrier(
        "twilio",
        TwilioSettings.model_validate({"api_url": api_url, "lookups_url": api_url, **settings}),
        TwilioCredentials.model_validate({"account_sid": ACCOUNT, "auth_token": TOKEN, "webhook_secret": "shared"}),
        http or http_to(),
    )


def telnyx(
    api_url: str = "http://127.0.0.1:1", http: CarrierHttp | None = None, **settings: str | int
) -> TelnyxCarrier:
    return TelnyxCarrier(
        "telnyx",
        TelnyxSettings.model_validate({"api_url": api_url, **settings}),
        TelnyxCredentials.model_validate({"api_key": API_KEY, "public_key": PUBLIC_KEY}),
        http or http_to(),
    )


OPEN = {"twilio": twilio, "telnyx": telnyx}


@asynccontextmanager
async def served(kind: str, answering: Answering, seconds: float = 10.0) -> AsyncGenerator[tuple[Carrier, Peer]]:
    """Give a connection to a peer that answers as told."""
    http = http_to(seconds)
    async with serve(answering) as peer:
        try:
            yield OPEN[kind](f"http://127.0.0.1:{peer.port}", http), peer
        finally:
            await http.client.close()


async def send(kind: str, answering: Answering, seconds: float = 10.0) -> Answer:
    """Hand one message to a peer that answers as told; what comes back names no secret."""
    async with served(kind, answering, seconds) as (carrier, _):
        answer = await carrier.send(MESSAGE)
    assert not any(secret in repr(answer) for secret in SECRETS)
    return answer


def reply(status: int, body: bytes, headers: bytes = b"") -> bytes:
    """Return the bytes of an HTTP answer."""
    head = b"HTTP/1.1 %d X\r\ncontent-length: %d\r\n%s\r\n" % (status, len(body), headers)
    return head + body

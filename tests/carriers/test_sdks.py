"""The SDKs of Twilio and Telnyx as judges: their clients call the simulators, their verifiers check signatures."""

import base64
import re
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import hypothesis.strategies as st
import pytest
from hypothesis import given
from nacl.signing import SigningKey
from twilio.base.exceptions import TwilioRestException
from twilio.http.http_client import TwilioHttpClient
from twilio.request_validator import RequestValidator, get_signature_algorithm
from twilio.rest import Client

from app.domain.carriers.carrier import CallbackRequest
from app.providers.carriers.telnyx.signature import read_key, verify
from app.providers.carriers.twilio.signature import SHA1, SHA256, Verifier, sign
from tests.carriers.simulators import ACCOUNT, NUMBER, SIGNING, Simulator
from tests.peers.carrier import Callback, Message, Secrets, SimulatedCarrier
from tests.peers.scripts import Reply
from tests.peers.telnyx import SimulatedTelnyx, public_key
from tests.peers.twilio import SimulatedTwilio
from tests.providers.carrier_apis import NOW

if TYPE_CHECKING:
    from telnyx import Telnyx  # its import takes seconds

TO = "+12025550143"
URL = "https://sms.example.com/carriers/twilio"
REPLY = Reply("Hi é 日本 & = +", media=("https://media.example.com/1.jpg",))
TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)


class Redirected(TwilioHttpClient):
    """Calls a simulator in place of Twilio."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url

    def request(self, method: str, url: str, **options: Any) -> Any:
        return super().request(method, re.sub("https://(api|lookups).twilio.com", self._url, url), **options)


@pytest.fixture
def twilio(simulators: dict[str, Simulator]) -> Client:
    simulators["twilio"].reset()
    return Client(ACCOUNT, "simulated", http_client=Redirected(simulators["twilio"].url))


@pytest.fixture
def telnyx(simulators: dict[str, Simulator]) -> "Telnyx":
    simulators["telnyx"].reset()
    client: type[Telnyx] = import_module("telnyx").Telnyx
    return client(api_key="KEYsimulated", public_key=public_key(SIGNING), base_url=f"{simulators['telnyx'].url}/v2")


def callbacks(carrier: SimulatedCarrier) -> list[Callback]:
    message = Message(carrier.next_id(), NUMBER, TO, "Hi", f"{URL}/status?reference=7")
    reports = [
        carrier.report(message, status, code)
        for status, code in zip(carrier.statuses.values(), (None, None, 30003), strict=True)
    ]
    return [*reports, carrier.bring(carrier.next_id(), TO, NUMBER, REPLY)]


def simulated_twilio(*, is_sha256: bool = False) -> SimulatedTwilio:
    return SimulatedTwilio(ACCOUNT, Secrets(set(), "token", is_sha256), f"{URL}/inbound", [NUMBER], 0)


def simulated_telnyx() -> SimulatedTelnyx:
    return SimulatedTelnyx(Secrets(set(), SIGNING), f"{URL}/inbound", [NUMBER], 0)


@pytest.mark.parametrize("is_sha256", [False, True])
def test_the_verifier_of_twilio_accepts_callbacks_signed_by_the_simulator(is_sha256: bool) -> None:
    for callback in callbacks(simulated_twilio(is_sha256=is_sha256)):
        headers = callback.headers
        algorithm = get_signature_algorithm(headers.get("X-Twilio-Webhooks-Signature-Settings"))
        fields = dict(parse_qsl(callback.body.decode(), keep_blank_values=True))

        assert RequestValidator("token").validate(callback.url, fields, headers["X-Twilio-Signature"], algorithm)


@pytest.mark.parametrize("is_sha256", [False, True])
def test_we_accept_callbacks_signed_by_the_simulator_of_twilio(is_sha256: bool) -> None:
    for callback in callbacks(simulated_twilio(is_sha256=is_sha256)):
        headers = {name.lower(): value for name, value in callback.headers.items()}

        assert Verifier("token", "token").verify(CallbackRequest(callback.url, headers, callback.body))


@given(st.dictionaries(TEXTS, TEXTS, max_size=6), TEXTS, st.sampled_from([SHA1, SHA256]))
def test_we_sign_as_twilio_does(fields: dict[str, str], token: str, algorithm: str) -> None:
    pairs = [(key.encode(), value.encode()) for key, value in fields.items()]

    signed = sign(token, URL, pairs, algorithm).decode()

    assert signed == RequestValidator(token).compute_signature(URL, fields, algorithm)


def test_the_verifier_of_telnyx_accepts_callbacks_signed_by_the_simulator(telnyx: "Telnyx") -> None:
    for callback in callbacks(simulated_telnyx()):
        event = telnyx.webhooks.unwrap(callback.body.decode(), headers=callback.headers)

        assert event.data


def test_the_verifier_of_telnyx_refuses_callbacks_forged_by_the_simulator(telnyx: "Telnyx") -> None:
    simulated = simulated_telnyx()
    for callback in map(simulated.forge, callbacks(simulated)):
        with pytest.raises(ValueError, match="does not match"):
            telnyx.webhooks.unwrap(callback.body.decode(), headers=callback.headers)


@given(st.binary(max_size=200))
def test_we_accept_callbacks_signed_by_another_library(body: bytes) -> None:
    signature = SigningKey(bytes.fromhex(SIGNING)).sign(b"%d|" % NOW + body).signature
    headers = {"telnyx-signature-ed25519": base64.b64encode(signature).decode(), "telnyx-timestamp": str(NOW)}

    verify(read_key(public_key(SIGNING)), CallbackRequest(URL, headers, body), NOW)


def test_the_client_of_twilio_sends_through_the_simulator(twilio: Client) -> None:
    sent = twilio.messages.create(to=TO, from_=NUMBER, body="By the SDK é")

    assert (sent.status, sent.num_segments, sent.error_code) == ("queued", "1", None)
    listed = {each.sid: each.body for each in twilio.messages.list(to=TO, from_=NUMBER, limit=100)}
    assert listed[sent.sid] == "By the SDK é"
    assert [each.phone_number for each in twilio.incoming_phone_numbers.list()] == [NUMBER]


def test_the_client_of_twilio_looks_a_number_up_at_the_simulator(twilio: Client) -> None:
    reader = twilio.lookups.v2.phone_numbers(TO)
    found = reader.fetch(fields="line_type_intelligence")

    assert (found.phone_number, found.country_code, found.valid) == (TO, "US", True)
    assert found.line_type_intelligence
    assert found.line_type_intelligence["type"] == "mobile"


def test_the_client_of_telnyx_looks_a_number_up_at_the_simulator(telnyx: "Telnyx") -> None:
    found = telnyx.number_lookup.retrieve(TO, type="carrier").data

    assert found
    assert found.carrier
    assert (found.phone_number, found.country_code, found.valid_number) == (TO, "US", True)
    assert (found.carrier.name, found.carrier.type) == ("Simulated Mobile", "mobile")


def test_the_client_of_twilio_understands_the_refusals_of_the_simulator(twilio: Client) -> None:
    with pytest.raises(TwilioRestException) as refused:
        twilio.messages.create(to="+15005521610", from_=NUMBER, body="Hi")

    assert (refused.value.status, refused.value.code) == (400, 21610)


def test_the_client_of_telnyx_sends_through_the_simulator(telnyx: "Telnyx") -> None:
    sent = telnyx.messages.send(to=TO, from_=NUMBER, text="By the SDK é").data

    assert sent
    assert sent.to
    assert sent.cost
    assert (sent.to[0].status, sent.parts, sent.cost.amount) == ("queued", 1, "0.0051")

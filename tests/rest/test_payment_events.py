"""The route that Stripe calls: what it books and refuses, and that no bytes of a stranger make it fail."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace

import httpx2
import pytest

from app.domain.onboarding.service import Opened
from app.domain.payments import service
from app.domain.payments.service import Payments
from app.providers.payments.stripe.gateway import Stripe
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.domain.conftest import unit_for as unit_for
from tests.factories.billing import LEDGER_ENTRIES, balance_of
from tests.peers.stripe import SECRET, StripePeer, serving
from tests.shared import Shared

pytestmark = pytest.mark.anyio

WEBHOOK = "/payments/stripe/webhook"


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[StripePeer, str]]:
    """Provide a peer and the address of its API."""
    peer = StripePeer()
    with serving(peer) as url:
        yield peer, url


@pytest.fixture
def paid(services: Services, served: tuple[StripePeer, str]) -> Services:
    """Provide services whose payment provider is the peer."""
    gateway = Stripe("sk_test_key", SECRET, base_url=served[1])
    of = services.database.sessions, services.clock, services.notify
    return replace(services, payments=Payments(gateway, [], "https://example.com", *of))


@pytest.fixture
async def stripe(paid: Services) -> AsyncGenerator[httpx2.AsyncClient]:
    """Provide a client of an application with the peer as its payment provider."""
    async with AsyncExitStack() as stack:
        app = await Shared(stack).app(paid)
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        yield await stack.enter_async_context(
            httpx2.AsyncClient(transport=transport, base_url=paid.settings.public_url)
        )


async def test_a_signed_event_is_booked_once_and_answered_without_a_body(
    stripe: httpx2.AsyncClient, paid: Services, served: tuple[StripePeer, str], unit_for: UnitFor, account: Opened
) -> None:
    peer = served[0]
    async with unit_for(account) as unit:
        payment = await service.top_up(unit, paid.payments, 500)
    peer.pay(payment.url)

    for _ in range(2):
        for event in peer.events:
            answer = await stripe.post(WEBHOOK, content=event, headers={"Stripe-Signature": peer.sign(event)})
            assert (answer.status_code, answer.content) == (204, b"")

    assert await balance_of(paid) == 1500
    assert await LEDGER_ENTRIES.where(type="purchase").count(paid) == 1


@pytest.mark.parametrize(
    ("body", "signature"),
    [
        (b"{}", None),
        (b"{}", ""),
        (b"{}", "t=1,v1=00"),
        (b"\xff\xfe", "t=1,v1=00"),
        (b"{}", "t=1,v1=é".encode("latin-1")),
        (b"{}", "t=é,v1=00".encode("latin-1")),
        (b"{}", "t=" + "9" * 400 + ",v1=00"),
        (b"{}", "v1=00," * 300),
        (b"[" * 9000, "t=1,v1=00"),
    ],
)
async def test_an_unsigned_event_is_refused_whatever_its_bytes(
    stripe: httpx2.AsyncClient, body: bytes, signature: bytes | str | None
) -> None:
    headers = {} if signature is None else {"Stripe-Signature": signature}
    answer = await stripe.post(WEBHOOK, content=body, headers=headers)

    assert (answer.status_code, answer.json()["error_code"]) == (403, "unsigned_payment_event")


@pytest.mark.parametrize(
    "body",
    [
        b"nothing",
        b"\xff",
        b"[]",
        b"{}",
        b'{"data":[]}',
        b'{"data":{"object":3}}',
        b'{"data":{"object":{"object":7,"id":[]}}}',
        b'{"data":{"object":{"object":"charge"}}}',
        b'{"data":{"object":' + b'{"a":' * 3000 + b"1" + b"}" * 3000 + b"}}",
    ],
)
async def test_a_signed_body_that_is_about_no_payment_changes_nothing(
    stripe: httpx2.AsyncClient, served: tuple[StripePeer, str], body: bytes
) -> None:
    requests = served[0].requests

    answer = await stripe.post(WEBHOOK, content=body, headers={"Stripe-Signature": served[0].sign(body)})

    assert answer.status_code == 204
    assert served[0].requests == requests


async def test_a_body_of_more_than_a_megabyte_is_refused(stripe: httpx2.AsyncClient) -> None:
    answer = await stripe.post(WEBHOOK, content=b"x" * 1_000_001)

    assert (answer.status_code, answer.json()["error_code"]) == (413, "body_too_large")

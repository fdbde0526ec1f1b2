"""Prism, a server that validates requests by an OpenAPI document, in place of Twilio."""

import socket
import subprocess
from collections.abc import AsyncGenerator, Callable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import httpx2
import pytest

from app.domain.carriers.carrier import Accepted, CarriedMessage, CarrierAccount, CarrierNumber, Charge, LookedUpNumber
from app.domain.kernel.phone import LineType
from app.providers.carriers.twilio.carrier import TwilioCarrier
from tests.node import NODE, install
from tests.providers.carrier_apis import ACCOUNT, MESSAGE, http_to, twilio
from tests.waiting import block_until

pytestmark = pytest.mark.anyio

SOURCES = Path(__file__).parent / "prism"
SID = "SM" + "a" * 32


@pytest.fixture(scope="module")
def prism(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Provide the address of Prism."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    program = install(SOURCES) / "node_modules" / "@stoplight" / "prism-cli" / "dist" / "index.js"
    command = [NODE, program, "mock", "--errors", "--port", str(port), str(SOURCES / "twilio.json")]
    with (
        (tmp_path_factory.mktemp("prism") / "log").open("w") as log,
        subprocess.Popen(command, stdout=log, stderr=log) as process,
    ):
        try:
            block_until(lambda: _answers(port))
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def _answers(port: int) -> bool:
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/").status_code > 0
    except httpx2.TransportError:
        return False


@pytest.fixture
async def open_carrier(prism: str) -> AsyncGenerator[Callable[..., TwilioCarrier]]:
    """Provide a function that opens a connection to Prism."""
    http = http_to()
    yield lambda **settings: twilio(prism, http, **settings)
    await http.client.close()


async def test_prism_refuses_requests_that_twilio_does_not_describe(prism: str) -> None:
    async with httpx2.AsyncClient(base_url=prism, auth=("AC", "x")) as client:
        path = f"/2010-04-01/Accounts/{ACCOUNT}/Messages.json"

        without_to = await client.post(path, data={"From": "+14155552345", "Body": "Hi"})
        no_number = await client.post(path, data={"To": "+14155552671", "ValidityPeriod": "soon"})
        as_json = await client.post(path, json={"To": "+14155552671", "Body": "Hi"})

    assert (without_to.status_code, no_number.status_code, as_json.status_code) == (422, 422, 415)


@pytest.mark.parametrize("settings", [{}, {"messaging_service_sid": "MG" + "b" * 32, "validity_seconds": 600}])
async def test_a_hand_off_is_as_twilio_describes_it(
    open_carrier: Callable[..., TwilioCarrier], settings: dict[str, str | int]
) -> None:
    assert await open_carrier(**settings).send(MESSAGE) == Accepted(SID, "queued", 1)


async def test_questions_are_as_twilio_describes_them(open_carrier: Callable[..., TwilioCarrier]) -> None:
    carrier = open_carrier()

    assert await carrier.check() == CarrierAccount("Blue Door", {"status": "active"})
    assert await carrier.list_numbers() == [CarrierNumber("+14155552345", "(415) 555-2345")]
    assert await carrier.lookup("+14159929960") == LookedUpNumber(True, LineType.voip, "Twilio - SMS/MMS-SVR", "US")
    assert await carrier.find(MESSAGE, datetime(2023, 8, 24, 5, 1, tzinfo=UTC)) == [
        Accepted(SID, "sent", 1, Charge(Decimal("0.00750"), "USD"))
    ]


async def test_a_deletion_is_as_twilio_describes_it(open_carrier: Callable[..., TwilioCarrier]) -> None:
    await open_carrier().delete_copies([CarriedMessage(7, SID)])

"""The service on a real port, connected to a simulated carrier of each kind."""

import asyncio
import socket
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import orjson
import pytest
import uvicorn

from app.bootstrap import derive
from app.db.engine import Pool
from app.domain.kernel.sealing import Seal
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.providers.carriers.sandbox.callbacks import open_poster
from app.providers.carriers.sandbox.playback import Playback
from app.providers.registry import KINDS
from app.services import Services
from app.settings import Settings
from tests.carriers.simulators import NUMBER, SCRIPTS, SMPP, UNDER_TEST, Kind, Simulator, simulating
from tests.domain.messages.handing import hand_over, reconcile
from tests.factories.carriers import add_connection, change_connection
from tests.factories.clocks import Moving
from tests.factories.messages import MESSAGES, SANDBOX_MESSAGES
from tests.factories.numbers import add_number
from tests.factories.tables import ahead
from tests.shared import Shared
from tests.smpp.lines import running
from tests.smpp.smscs import Smsc, open_smsc
from tests.waiting import until

TIMEOUT = 5.0
"""The time limit of a hand-off in seconds: some are never answered."""


@pytest.fixture(scope="session")
def listening() -> Iterator[socket.socket]:
    """Provide the socket of the service, whose port stays the same for all tests."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


@pytest.fixture(scope="session")
def port(listening: socket.socket) -> int:
    return listening.getsockname()[1]


@pytest.fixture
def settings(settings: Settings, port: int) -> Settings:
    return settings.model_copy(
        update={"port": port, "base_url": f"http://127.0.0.1:{port}", "handoff_timeout_seconds": TIMEOUT}
    )


@pytest.fixture(scope="session")
def simulators(port: int) -> Iterator[dict[str, Simulator]]:
    """Provide the simulators, each a process of its own."""
    base = f"http://127.0.0.1:{port}/carriers"
    with (
        simulating("twilio", f"{base}/twilio/inbound") as twilio,
        simulating("telnyx", f"{base}/telnyx/inbound") as telnyx,
    ):
        yield {"twilio": twilio, "telnyx": telnyx}


@pytest.fixture
async def served(shared: Shared, services: Services, listening: socket.socket) -> AsyncGenerator[None]:
    """Serve the application of the services on its port, where carriers call back."""
    config = uvicorn.Config(await shared.app(services), lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve([listening.dup()]))
    yield
    server.should_exit = True
    await task


@dataclass
class Bench:
    """An account whose number belongs to a connection of one kind."""

    kind: Kind
    services: Services
    account: Opened
    number_id: int
    simulator: Simulator | Smsc | None
    sent: dict[str, int] = field(default_factory=dict)
    clock: Moving = field(default_factory=Moving)

    @property
    def pool(self) -> Pool:
        """Return the pool of the service."""
        return self.services.database.pool

    async def send(self, *numbers: str, body: str = "Hello") -> None:
        """Accept a text to each number."""
        actor = Actor(self.account.account_id, frozenset(), "test")
        for number in numbers:
            wish = Send(number, body, consent_attested=True, from_phone_number_id=self.number_id)
            self.sent[number] = (await self.services.acceptor.accept(actor, wish)).message_id

    async def work(self) -> None:
        """Hand off, ask the carrier and match receipts once."""
        handoff = replace(self.services.handoff, clock=self.clock)
        await hand_over(handoff)
        await reconcile(handoff)
        await self.services.receipts.match()
        if self.simulator is None:
            await self._play()

    async def _play(self) -> None:
        """Have the network of the sandbox call back."""
        url, secret = self.services.settings.public_url, derive(self.services.settings, "sandbox")
        async with open_poster() as poster:
            await Playback(self.pool, poster, url, lambda _: secret).run()

    async def settle(self, wanted: dict[str, str], hurry: float = 0) -> None:
        """Work until each number's message has its status; move the clock by `hurry` seconds each time."""

        async def is_settled() -> bool:
            self.clock.move(seconds=hurry)
            await self.work()
            return {number: status for number, (status, *_) in (await self.states()).items()} == wanted

        await until(is_settled, every=0.1)

    async def states(self) -> dict[str, tuple[str, str | None, str | None]]:
        """Return the state of each message that was sent: status, our error code and the carrier's."""
        rows = await MESSAGES.where(direction="outbound").read(
            self.pool, "to_number", "status", "error_code", "carrier_error"
        )
        return {number: (status, code, raw) for number, status, code, raw in rows if number in self.sent}

    async def calls(self) -> dict[str, int]:
        """Return how often the carrier was given the text of each number."""
        if self.simulator is None:
            counts: dict[int, int] = dict(await SANDBOX_MESSAGES.read(self.pool, "reference", "calls"))
        elif isinstance(self.simulator, Smsc):
            submitted = Counter(f"+{each['destination'][2]}" for each in self.simulator.all("submit"))
            return {number: submitted[number] for number in self.sent}
        else:
            counts = self.simulator.calls()
        return {number: counts.get(id, 0) for number, id in self.sent.items()}

    async def rotate(self, credentials: dict[str, str]) -> None:
        """Change the credentials of the connection, as an operator does."""
        assert isinstance(self.simulator, Simulator)
        _, before = self.kind.configure(self.simulator.url)
        await change_connection(
            self.pool,
            self.kind.name,
            credentials=sealed(self.services, credentials),
            previous_credentials=sealed(self.services, before),
            previous_until=ahead(hours=1),
        )


def sealed(services: Services, credentials: dict[str, Any]) -> bytes:
    """Return credentials as the table holds them."""
    return Seal(derive(services.settings, "carrier credentials")).close(orjson.dumps(credentials).decode())


@pytest.fixture(params=UNDER_TEST, ids=lambda kind: kind.name)
async def bench(
    request: pytest.FixtureRequest,
    services: Services,
    account: Opened,
    simulators: dict[str, Simulator],
    smsc: Smsc,
    served: None,
) -> AsyncGenerator[Bench]:
    """Provide an account at each kind of carrier."""
    kind: Kind = request.param
    pool, simulator = services.database.pool, smsc if kind is SMPP else simulators.get(kind.name)
    if simulator:
        place = str(simulator.port) if isinstance(simulator, Smsc) else simulator.url
        settings, credentials = kind.configure(place)
        known = {"kind": kind.name, "settings": settings, "credentials": sealed(services, credentials)}
        await add_connection(pool, kind.name, **known, role=KINDS[kind.name].role)
        services.connections.expire()
    if isinstance(simulator, Simulator):
        simulator.reset()
    number_id = await add_number(pool, account.account_id, NUMBER, carrier=kind.name)
    async with running(services) if kind is SMPP else nullcontext():
        yield Bench(kind, services, account, number_id, simulator)


@pytest.fixture(scope="session")
def shared_smsc() -> Iterator[Smsc]:
    """Run an SMSC."""
    with open_smsc() as smsc:
        yield smsc


@pytest.fixture
def smsc(shared_smsc: Smsc) -> Smsc:
    """Provide an SMSC that does with texts what the scripts say."""
    shared_smsc.command("reset")
    shared_smsc.events.clear()
    shared_smsc.command("pace", response=20, receipt=50)
    shared_smsc.command("script", numbers={number[1:]: script for number, script in SCRIPTS.items()})
    return shared_smsc

"""An account that is connected to a simulated CRM, at times that a test sets."""

import asyncio
import base64
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_der_public_key

from app.bootstrap import open_applier, open_crm_sends, open_crm_worker, open_dispatcher, open_leftovers
from app.domain.accounts.scopes import Scope
from app.domain.contacts import service as contacts
from app.domain.contacts.models import Contact, ContactFields
from app.domain.crm import service
from app.domain.crm.receiving import CrmReceiver
from app.domain.crm.sending import CrmSends
from app.domain.crm.service import Ports
from app.domain.crm.worker import CrmWorker
from app.domain.integrations.applying import Applier
from app.domain.integrations.intake import Intake
from app.domain.integrations.leftovers import Leftovers
from app.domain.integrations.scheduling import Delivery
from app.domain.kernel.unit_of_work import Actor, open_unit
from app.domain.onboarding.service import Opened
from app.domain.webhooks.poster import Reply
from app.providers.crm.highlevel import HighLevel
from app.providers.crm_api import Api
from app.services import Services
from tests.domain.messages.handing import hand_over
from tests.factories.clocks import At
from tests.factories.crm import CRM_CONNECTIONS
from tests.peers.calls import kind_of
from tests.peers.highlevel import HighLevelPeer, serving
from tests.waiting import PATIENCE_SECONDS, within

AHEAD = timedelta(minutes=1)
"""The distance of the clock of a test before that of the machine, so that what the machine's writes is due."""

SOON_SECONDS = 1.0
"""The time for an answer that never comes."""


@dataclass(frozen=True)
class Impatient:
    """A client that soon ends what a peer never answers; answers may be late on a busy machine."""

    client: Any
    peer: HighLevelPeer

    async def send(self, method: str, url: str, *given: Any, seconds: float, **options: Any) -> Reply:
        """Send a request, as `HttpClient` does."""
        failing, kind = self.peer.failing, kind_of(f"{method} {urlsplit(url).path}")
        will_hang = failing is not None and failing.status is None and kind not in self.peer.failed
        return await self.client.send(method, url, *given, seconds=SOON_SECONDS if will_hang else seconds, **options)


def open_client(client: Any, peer: HighLevelPeer) -> Any:
    """Return a client of a peer: tests end what never gets an answer, unless they are `impatient`."""
    return client


@dataclass
class Shop:
    """An account with a CRM, and its work at a time of the test's own."""

    services: Services
    account: Opened
    clock: At
    peer: HighLevelPeer
    ports: Ports
    intake: Intake
    applier: Applier
    sends: CrmSends
    leftovers: Leftovers
    worker: CrmWorker
    integration_id: int = 0

    @property
    def actor(self) -> Actor:
        return Actor(self.account.account_id, frozenset(Scope), "test")

    def unit(self) -> Any:
        return open_unit(self.services.database.sessions, self.actor, self.clock, self.services.notify)

    async def connect(self) -> int:
        """Connect the CRM; return the id of the integration."""
        async with self.unit() as unit:
            given = self.peer.authorize(service.begin(unit, self.ports, self.peer.kind))
            self.integration_id = (await service.finish(unit, self.ports, **given)).id
        return self.integration_id

    async def deliver(self, delivery: Delivery) -> int | None:
        """Post a notice; return the id of the stored event."""
        address = self.intake.find_address(self.peer.kind, delivery)
        found = await self.intake.find(self.peer.kind, address)
        if not self.intake.is_signed(found, delivery):
            await self.intake.refuse(found)
        return await self.intake.receive(found, delivery)

    async def deliver_all(self) -> None:
        """Post the notices that the CRM has made."""
        while self.peer.notices:
            await self.deliver(self.peer.notices.pop(0))

    async def work(self, *, turns: int = 50) -> None:
        """Do all work that is due, in this process."""
        dispatcher = open_dispatcher(self.services)
        for _ in range(turns):
            while await dispatcher.run():
                pass
            await self.applier.run()
            await self.sends.run()
            while await self.leftovers.run():
                pass
            await hand_over(self.services.handoff)
            while await dispatcher.run():
                pass
            if not await self.worker.due():
                return
            await self.worker.run()
            await self.worker.idle()
        raise AssertionError("the work does not end")

    async def work_until(self, event: asyncio.Event) -> None:
        """Do all work that is due, until it is done or an event happens."""
        working, happening = asyncio.create_task(self.settle()), asyncio.create_task(event.wait())
        either = asyncio.wait({working, happening}, return_when=asyncio.FIRST_COMPLETED)
        await within("the end of the work or the event", either)
        for task in (working, happening):
            task.cancel()
        await asyncio.gather(working, happening, return_exceptions=True)
        if not event.is_set():
            working.result()

    async def settle(self) -> None:
        """Exchange notices and do all work until nothing happens any more."""
        await self.work()
        while self.peer.notices:
            await self.deliver_all()
            await self.work()

    async def write(self, contact: str, body: str, message_id: str, *attachments: str) -> None:
        """Have a user of the CRM write a text to a contact, and do all work that follows."""
        await self.deliver(self.peer.write(contact, body, message_id, *attachments))
        await self.settle()

    async def add(self, phone: str, **fields: Any) -> Contact:
        async with self.unit() as unit:
            return await contacts.create(unit, {"phone": phone, **fields})

    async def change(self, id: int, fields: ContactFields) -> None:
        async with self.unit() as unit:
            await contacts.update(unit, id, fields)

    async def state(self, *columns: str) -> Any:
        return await CRM_CONNECTIONS.only(self.services, *columns)

    def move(self, **ahead: float) -> None:
        self.clock.instant += timedelta(**ahead)


def highlevel(peer: HighLevelPeer, api: Api) -> HighLevel:
    """Return the adapter of HighLevel for a peer."""
    key = load_der_public_key(base64.b64decode(peer.public_key))
    assert isinstance(key, Ed25519PublicKey)
    return HighLevel(api, f"{api.url}/authorize", peer.client_id, peer.client_secret, peer.provider_id, key)


PEERS = {HighLevelPeer: highlevel}
"""The simulated CRMs with their adapters; a new one is added here."""


@asynccontextmanager
async def open_shop(
    services: Services, account: Opened, make: Callable[..., HighLevelPeer] = HighLevelPeer
) -> AsyncGenerator[Shop]:
    """Open an account that is not connected yet."""
    clock = At(datetime.now(UTC) + AHEAD)
    peer = make(clock=clock.now)
    async with serving(peer) as url:
        ports = connected_to(services, peer, url)
        yield Shop(
            services,
            account,
            clock,
            peer,
            ports,
            replace(services.intake, clock=clock, ports=ports.integrations),
            replace(open_applier(services), clock=clock, ports=ports.integrations),
            replace(open_crm_sends(services), clock=clock),
            open_leftovers(services),
            replace(open_crm_worker(services), clock=clock, ports=ports),
        )


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let calls that get no answer end soon."""
    monkeypatch.setitem(globals(), "open_client", Impatient)


@pytest.fixture(params=PEERS)
async def shop(request: pytest.FixtureRequest, services: Services, account: Opened) -> AsyncGenerator[Shop]:
    """Provide an account that is not connected yet, for each CRM in turn."""
    async with open_shop(services, account, request.param) as opened:
        yield opened


def connected_to(services: Services, peer: HighLevelPeer, url: str) -> Ports:
    """Return the ports with the adapter of a peer's CRM."""
    client = open_client(services.webhooks.poster, peer)
    adapter = PEERS[type(peer)](peer, Api(client, url, PATIENCE_SECONDS))
    integrations = replace(services.crm.integrations, receivers={peer.kind: CrmReceiver(adapter)})
    return replace(services.crm, connectors={peer.kind: adapter}, integrations=integrations)

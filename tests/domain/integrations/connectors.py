"""The connectors that the contract suite tests: each scheduling tool, and one line in `UNDER_TEST` for each CRM."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any, Protocol

from app.domain.integrations.models import Integration
from app.domain.integrations.scheduling import Delivery
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.crm.conftest import Shop, open_shop
from tests.domain.integrations.conftest import START, Office, open_office
from tests.factories.contacts import CONTACTS
from tests.factories.integrations import BOOKINGS, SECRET, TOOLS
from tests.factories.messages import OUTBOUND
from tests.peers.highlevel import HighLevelPeer
from tests.peers.visits import Visit

PHONE = "+12025550143"
VISIT = Visit(0, START - timedelta(minutes=1), START + timedelta(days=3), phone=PHONE)
MOVED = Visit(1, START - timedelta(seconds=50), START + timedelta(days=4), phone=PHONE)


class Connected(Protocol):
    """A connector of an account that has given it all that it needs. Its events are those of its vendor."""

    @property
    def services(self) -> Services: ...

    @property
    def account(self) -> Opened: ...

    @property
    def location(self) -> str:
        """Return the vendor's id of its account, where its events name one."""
        ...

    def move(self, **ahead: float) -> None:
        """Move the clock of the account ahead."""

    def sign(self, body: bytes) -> Delivery:
        """Return a body as the vendor signs it now."""
        ...

    def forge(self, body: bytes) -> Delivery:
        """Return a body that somebody else has signed in the way of the vendor."""
        ...

    def ask(self) -> bytes:
        """Return the body of an event that asks for one text, each time another."""
        ...

    def unknown(self) -> bytes:
        """Return the body of an event that means nothing to the service."""
        ...

    def life(self) -> Sequence[bytes]:
        """Return the bodies of three events about one person, in the order in which they happened."""
        ...

    async def state(self) -> Any:
        """Return what is known after the events of a life."""
        ...

    async def deliver(self, delivery: Delivery) -> int | None:
        """Post an event; return the id under which it is stored."""
        ...

    async def work(self) -> None:
        """Do all work that is due."""
        ...


@dataclass
class Scheduling:
    """A scheduling tool, with the simulated one of `tests/peers`."""

    office: Office
    peer: Any
    integration: Integration
    asked: int = 0
    location: str = ""

    @property
    def services(self) -> Services:
        return self.office.services

    @property
    def account(self) -> Opened:
        return self.office.account

    def move(self, **ahead: float) -> None:
        self.office.clock.instant += timedelta(**ahead)

    def sign(self, body: bytes) -> Delivery:
        return self.peer.sign(body, self.office.clock.now(), SECRET)

    def forge(self, body: bytes) -> Delivery:
        return self.peer.sign(body, self.office.clock.now(), "another secret")

    def ask(self) -> bytes:
        self.asked += 1
        return self.peer.booked(replace(VISIT, chain=f"x{self.asked}"))

    def unknown(self) -> bytes:
        return self.peer.unknown(VISIT)

    def life(self) -> Sequence[bytes]:
        return self.peer.life(VISIT, MOVED)

    async def state(self) -> Any:
        found = BOOKINGS.where(account_id=self.account.account_id)
        return [tuple(row) for row in await found.read(self.services, "external_id", "status", "starts_at", "is_moved")]

    async def deliver(self, delivery: Delivery) -> int | None:
        return await self.office.deliver(self.integration, delivery)

    async def work(self) -> None:
        await self.office.work()


@dataclass
class Crm:
    """A CRM with one contact."""

    shop: Shop
    contact: str
    stranger: HighLevelPeer

    @property
    def services(self) -> Services:
        return self.shop.services

    @property
    def account(self) -> Opened:
        return self.shop.account

    @property
    def location(self) -> str:
        return self.shop.peer.location

    def move(self, **ahead: float) -> None:
        self.shop.move(**ahead)

    def sign(self, body: bytes) -> Delivery:
        return self.shop.peer.sign_bytes(body)

    def forge(self, body: bytes) -> Delivery:
        return self.stranger.sign_bytes(body)

    def ask(self) -> bytes:
        return self.shop.peer.write(self.contact, "Hello").body

    def unknown(self) -> bytes:
        return self.shop.peer.sign({"type": "InvoicePaid", "locationId": self.shop.peer.location}).body

    def life(self) -> Sequence[bytes]:
        self.shop.peer.notices.clear()
        self.shop.peer.change(self.contact, firstName="A")
        self.shop.peer.set_dnd(self.contact, on=True)
        self.shop.peer.change(self.contact, firstName="B")
        return [self.shop.peer.notices.pop(0).body for _ in range(3)]

    async def state(self) -> Any:
        found = CONTACTS.where(account_id=self.account.account_id)
        return [tuple(row) for row in await found.read(self.services, "phone", "first_name", "dnd_sms")]

    async def deliver(self, delivery: Delivery) -> int | None:
        return await self.shop.deliver(delivery)

    async def work(self) -> None:
        await self.shop.work()


async def texts(connected: Connected) -> list[str]:
    """Return the texts that the account has sent."""
    return await OUTBOUND.read(connected.services, "body")


@asynccontextmanager
async def scheduling(peer: Any, services: Services, account: Opened) -> AsyncGenerator[Connected]:
    """Open an account with a scheduling tool, which sends confirmations only."""
    async with open_office(services, account) as office:
        silent = dict.fromkeys(("rescheduled", "canceled", "reminder_day", "reminder_hour"), "")
        yield Scheduling(office, peer, await office.connect(peer.KIND, texts=silent))


@asynccontextmanager
async def crm(peer: Callable[..., HighLevelPeer], services: Services, account: Opened) -> AsyncGenerator[Connected]:
    """Open an account with a CRM that has one contact."""
    async with open_shop(services, account, partial(peer, location=f"loc{account.account_id}")) as shop:
        await shop.connect()
        contact = shop.peer.add(phone=PHONE)
        shop.peer.notices.clear()
        await shop.work()
        yield Crm(shop, contact, peer())


Opener = Callable[[Services, Opened], AbstractAsyncContextManager[Connected]]
UNDER_TEST: Mapping[str, Opener] = {
    **{kind: partial(scheduling, peer) for kind, peer in TOOLS.items()},
    "highlevel": partial(crm, HighLevelPeer),
}

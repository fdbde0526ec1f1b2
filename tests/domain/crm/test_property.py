"""Two sides, random changes, deletions, opt-outs, losses, repetitions and orders: after quiet they agree."""

import random

import pytest

from app.domain.carriers.carrier import InboundMessage
from app.domain.erasure import service as erasure
from tests.domain.crm.conftest import Shop
from tests.factories.contacts import CONTACTS
from tests.factories.crm import CRM_PUSHES
from tests.factories.messages import OUTBOUND
from tests.peers.highlevel import Fault

pytestmark = pytest.mark.anyio

PHONES = [f"+1202555014{number}" for number in range(4)]
NAMES = ["", "A", "B", "C"]


class Life:
    """Random steps of a connected account; `asked` are the ids of the texts that the CRM asked for."""

    def __init__(self, shop: Shop, seed: int) -> None:
        self.shop, self.random = shop, random.Random(seed)
        self.asked = set[str]()

    async def step(self) -> None:
        """Change something on a side, or let some notices and some work through."""
        self.shop.move(seconds=self.random.randint(1, 90))
        act = self.random.choice(
            [self.here, self.here, self.there, self.there, self.stop, self.lift, self.write, self.remove, self.exchange]
        )
        await act()

    async def here(self) -> None:
        phone = self.random.choice(PHONES)
        known = await CONTACTS.where(phone=phone).read(self.shop.services, "id")
        value = self.random.choice(NAMES)
        if known:
            await self.shop.change(
                known[0], {"first_name": value} if self.random.random() < 0.7 else {"last_name": value}
            )
        else:
            await self.shop.add(phone, first_name=value)

    async def there(self) -> None:
        phone, peer = self.random.choice(PHONES), self.shop.peer
        known = [id for id, each in peer.contacts.items() if each["phone"] == phone]
        value = {"firstName": self.random.choice(NAMES), "lastName": self.random.choice(NAMES)}
        if known:
            peer.change(known[0], **value)
        else:
            peer.add(phone=phone, **value)

    async def stop(self) -> None:
        number, phone = self.shop.account.phone_number, self.random.choice(PHONES)
        text = InboundMessage(f"in-{self.random.random()}", phone, number, "STOP")
        await self.shop.services.inbox.receive("sandbox", text)

    async def lift(self) -> None:
        if self.shop.peer.contacts:
            self.shop.peer.set_dnd(self.random.choice(list(self.shop.peer.contacts)), self.random.random() < 0.3)

    async def write(self) -> None:
        if self.shop.peer.contacts:
            id = f"text-{self.random.randint(1, 5)}"
            self.asked.add(id)
            asked = self.shop.peer.write(self.random.choice(list(self.shop.peer.contacts)), f"Body of {id}", id)
            self.shop.peer.notices.extend([asked] * self.random.randint(1, 2))

    async def remove(self) -> None:
        if self.random.random() < 0.5 and self.shop.peer.contacts:
            self.shop.peer.delete(self.random.choice(list(self.shop.peer.contacts)))
        elif found := await CONTACTS.read(self.shop.services, "id"):
            async with self.shop.unit() as unit:
                await erasure.erase(unit, self.random.choice(found))

    async def exchange(self) -> None:
        """Deliver some notices, repeated and in any order, while calls fail."""
        notices = self.shop.peer.notices
        self.random.shuffle(notices)
        for _ in range(self.random.randint(0, len(notices))):
            notice = notices.pop()
            for _ in range(self.random.randint(0 if b'"SMS"' not in notice.body else 1, 2)):
                await self.shop.deliver(notice)
        if self.random.random() < 0.5:
            self.shop.peer.faults.append(Fault(self.random.choice([429, 500]), happens=self.random.random() < 0.5))
        await self.shop.work()


@pytest.mark.parametrize("seed", range(8))
async def test_after_quiet_both_sides_agree_no_opt_out_was_lifted_and_no_text_was_sent_twice(
    shop: Shop, seed: int
) -> None:
    await shop.connect()
    life, stopped = Life(shop, seed), set[str]()
    for _ in range(40):
        await life.step()
        stopped |= set(await CONTACTS.where(status="opted_out").read(shop.services, "phone"))
    shop.peer.faults.clear()
    for _ in range(4):
        shop.move(minutes=16)
        await shop.settle()

    assert await CRM_PUSHES.where(status="waiting").count(shop.services) == 0
    fields = "phone", "first_name", "last_name", "status", "dnd_sms"
    here = {row[0]: row for row in await CONTACTS.read(shop.services, *fields)}
    assert all(here[phone][3] == "opted_out" for phone in stopped & here.keys())
    for id, record in shop.peer.contacts.items():
        if record["phone"] in here:
            _, first, last, status, dnd = here[record["phone"]]
            assert (record["firstName"], record["lastName"]) == (first, last), (id, record, here)
            assert shop.peer.is_silent(id) is (status == "opted_out" or dnd), (id, record, here)
    sent = await OUTBOUND.where_not(purpose="compliance").read(shop.services, "body")
    assert len(sent) == len(set(sent))
    calls = len(shop.peer.calls)
    await shop.settle()
    assert len(shop.peer.calls) == calls  # no echo goes round

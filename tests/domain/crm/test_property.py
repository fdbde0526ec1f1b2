"""Two sides, random changes, deletions, merges, opt-outs, losses, repetitions and orders: after quiet they agree."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from app.domain.carriers.carrier import InboundMessage
from app.domain.contacts.models import ContactFields
from app.domain.erasure import merging
from app.domain.erasure import service as erasure
from app.domain.erasure.merging import Merge
from app.domain.kernel.errors import DomainError
from tests.domain.crm.conftest import Shop, open_shop
from tests.factories.contacts import CONTACTS
from tests.factories.crm import CRM_PUSHES
from tests.factories.messages import MESSAGES
from tests.peers.highlevel import Fault, HighLevelPeer

pytestmark = pytest.mark.anyio

PHONES = [f"+1202555014{number}" for number in range(4)]
NAMES = ["", "A", "B", "C"]
FIELDS = {"first_name": "firstName", "last_name": "lastName", "email": "email"}


class Life:
    """Random steps of a connected account. `stopped` are the phones whose last word is STOP, by the order of texts."""

    def __init__(self, shop: Shop) -> None:
        self.shop, self.peer = shop, shop.peer
        self.random = random.Random()
        self.stopped = set[str]()
        self.said = 0
        self.is_uncertain = False

    async def step(self, act: str, seed: int) -> None:
        """Change something on a side, or let some notices and some work through; what is refused changes nothing."""
        self.random.seed(seed)
        self.shop.move(seconds=self.random.randint(1, 90))
        try:
            await ACTS[act](self)
        except DomainError:
            return

    async def edit_here(self) -> None:
        phone = self._phone()
        known = await self._contacts("id", phone=phone)
        if not known:
            await self.shop.add(phone, **self._values())
        elif self.random.random() < 0.2:
            await self.shop.change(known[0], {"dnd_sms": self.random.random() < 0.5})
        else:
            name, value = self.random.choice([*self._values().items()])
            await self.shop.change(known[0], cast("ContactFields", {name: value}))

    async def edit_there(self) -> None:
        phone = self._phone()
        known = [id for id, each in self.peer.contacts.items() if each["phone"] == phone]
        values = {FIELDS[name]: value for name, value in self._values().items()}
        if known:
            self.peer.change(known[0], **values)
        else:
            self.peer.add(phone=phone, **values)

    async def renumber_here(self) -> None:
        if found := await self._contacts("id"):
            await self.shop.change(self.random.choice(found), {"phone": self._phone()})

    async def renumber_there(self) -> None:
        phone = self._phone()
        if self.peer.contacts and phone not in [each["phone"] for each in self.peer.contacts.values()]:
            self.peer.change(self._record(), phone=phone)

    async def say(self) -> None:
        self.said += 1
        await self._receive(f"Text {self.said}")

    async def stop(self) -> None:
        self.stopped.add(await self._receive("STOP"))

    async def start(self) -> None:
        self.stopped.discard(await self._receive("START"))

    async def silence_there(self) -> None:
        if self.peer.contacts:
            self.peer.set_dnd(self._record(), self.random.random() < 0.3)

    async def write_there(self) -> None:
        if self.peer.contacts:
            id = f"text-{self.random.randint(1, 5)}"
            asked = self.peer.write(self._record(), f"Body of {id}", id)
            self.peer.notices.extend([asked] * self.random.randint(1, 2))

    async def delete_there(self) -> None:
        if self.peer.contacts:
            self.peer.delete(self._record())

    async def erase_here(self) -> None:
        if found := await self._contacts("id"):
            async with self.shop.unit() as unit:
                await erasure.erase(unit, self.random.choice(found))

    async def merge_here(self) -> None:
        found = await self._contacts("id")
        if len(found) > 1:
            wanted = Merge(*self.random.sample(found, 2))
            async with self.shop.unit() as unit:
                shown = await merging.preview(unit, wanted)
            async with self.shop.unit() as unit:
                await merging.merge(unit, wanted, shown.preview_id)

    async def merge_there(self) -> None:
        if len(self.peer.contacts) > 1:
            kept, gone = self.random.sample(list(self.peer.contacts), 2)
            phone = self.random.choice([self.peer.contacts[id]["phone"] for id in (kept, gone)])
            self.peer.delete(gone)
            self.peer.change(kept, phone=phone, lastName=self.random.choice(NAMES))

    async def exchange(self) -> None:
        """Deliver some notices, repeated, lost and in any order, while calls fail."""
        notices = self.peer.notices
        self.random.shuffle(notices)
        for _ in range(self.random.randint(0, len(notices))):
            notice = notices.pop()
            for _ in range(self.random.randint(0 if b'"SMS"' not in notice.body else 1, 2)):
                await self.shop.deliver(notice)
        if self.random.random() < 0.5:
            fault = Fault(self.random.choice([401, 429, 500]), happens=self.random.random() < 0.5)
            self.is_uncertain |= fault.happens
            self.peer.faults.append(fault)
        await self.shop.work()

    async def _receive(self, text: str) -> str:
        phone = self._phone()
        self.said += 1
        id = f"in-{self.shop.account.account_id}-{self.said}"
        message = InboundMessage(id, phone, self.shop.account.phone_number, text)
        await self.shop.services.inbox.receive("sandbox", message)
        return phone

    async def _contacts(self, *columns: str, **values: Any) -> list[Any]:
        return await CONTACTS.where(account_id=self.shop.account.account_id, **values).read(
            self.shop.services, *columns
        )

    def _values(self) -> dict[str, str]:
        """Return a name of each kind, and an address that no other contact has."""
        address = self.random.choice(["", f"{self.random.randint(0, 99_999_999)}@example.com"])
        return {
            "first_name": self.random.choice(NAMES),
            "last_name": self.random.choice(NAMES),
            "email": address,
        }

    def _phone(self) -> str:
        return self.random.choice(PHONES)

    def _record(self) -> str:
        return self.random.choice(list(self.peer.contacts))


ACTS = {
    "edit here": Life.edit_here,
    "edit there": Life.edit_there,
    "erase here": Life.erase_here,
    "delete there": Life.delete_there,
    "exchange": Life.exchange,
    "merge here": Life.merge_here,
    "merge there": Life.merge_there,
    "renumber here": Life.renumber_here,
    "renumber there": Life.renumber_there,
    "say": Life.say,
    "silence there": Life.silence_there,
    "start": Life.start,
    "stop": Life.stop,
    "write there": Life.write_there,
}
OFTEN = ["edit here", "edit there", "exchange"]
STEPS = st.lists(
    st.tuples(st.sampled_from([*sorted(ACTS), *OFTEN, *OFTEN]), st.integers(0, 99_999)), min_size=20, max_size=45
)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=settings().max_examples // 5,
    phases=[Phase.explicit, Phase.generate],  # a shorter life would be sought for longer than a test may take
)
@given(steps=STEPS)
async def test_after_quiet_both_sides_agree_no_opt_out_was_lifted_and_no_text_was_sent_twice(
    services: Any, new_account: Any, steps: Sequence[tuple[str, int]]
) -> None:
    account = await new_account()
    async with open_shop(services, account, partial(HighLevelPeer, location=f"loc{account.account_id}")) as shop:
        await shop.connect()
        life = Life(shop)
        for act, seed in steps:
            await life.step(act, seed)
        shop.peer.faults.clear()
        for _ in range(4):
            shop.move(minutes=16)
            await shop.settle()

        await check(life)


async def check(life: Life) -> None:
    """Check what holds after quiet.

    An address that another record has at the time (a merge here moves it to the other contact) is refused by the CRM:
    that push has failed, and the address alone differs, even when the other record is gone by now.
    """
    shop, peer, own = life.shop, life.peer, {"account_id": life.shop.account.account_id}
    assert await CRM_PUSHES.where(status="waiting", **own).count(shop.services) == 0
    columns = "phone", "first_name", "last_name", "email", "status", "dnd_sms"
    here = {row[0]: tuple(row) for row in await life._contacts(*columns)}
    silent = {phone for phone, *_, status, dnd in here.values() if status == "opted_out" or dnd}
    there = {
        record["phone"]: (record["phone"], record["firstName"], record["lastName"], record["email"], peer.is_silent(id))
        for id, record in peer.contacts.items()
    }
    both = {phone: (*here[phone][:4], phone in silent) for phone in here.keys() & there.keys()}
    for phone in await _refused_addresses(life, there):
        both[phone] = (*both[phone][:3], there[phone][3], both[phone][4])
    assert {phone: there[phone] for phone in both} == both
    assert {phone for phone in life.stopped if phone in here and here[phone][4] != "opted_out"} == set()
    sent = MESSAGES.where(direction="outbound", **own).where_not(purpose="compliance")
    bodies = Counter(await sent.read(shop.services, "body"))
    assert [body for body, times in bodies.items() if times > 1] == []
    entries = Counter(each["message"] for each in peer.messages if each["message"].startswith(("Text", "Body")))
    assert life.is_uncertain or [body for body, times in entries.items() if times > 1] == []
    calls = len(peer.calls)
    await shop.settle()
    assert len(peer.calls) == calls  # no echo goes round


async def _refused_addresses(life: Life, there: Mapping[str, Any]) -> list[str]:
    """Return the phones of contacts whose failed push says that another record had their e-mail address."""
    failed = CRM_PUSHES.where(account_id=life.shop.account.account_id, status="failed", kind="contact")
    told = {
        id for id, reason in await failed.read(life.shop.services, "contact_id", "reason") if "duplicated" in reason
    }
    return [phone for id, phone in await life._contacts("id", "phone") if id in told and phone in there]

"""One exchange of contacts, texts and statuses, in which every call to the CRM fails once, or the worker dies.

Nothing is lost, and no text is sent twice, whichever call it is.
"""

from collections import Counter
from collections.abc import Mapping

import pytest

from app.domain.carriers.carrier import InboundMessage, Receipt, ReceiptStatus
from tests.domain.crm.conftest import Shop
from tests.factories.contacts import CONTACTS
from tests.factories.crm import CRM_LINKS, CRM_PUSHES
from tests.factories.messages import OUTBOUND
from tests.peers.highlevel import Fault

pytestmark = pytest.mark.anyio

OURS, BOTH, THEIRS = "+12025550141", "+12025550142", "+12025550143"
NEVER, DONE = Fault(None), Fault(None, happens=True)
FAULTS: Mapping[str, Fault | None] = {
    "no failure": None,
    "401": Fault(401),
    "429": Fault(429, retry_after=20),
    "500": Fault(500),
    "503 though it happened": Fault(503, happens=True),
    "a slow answer": Fault(0, seconds=0.05),
    "an answer of a proxy": Fault(200, content=b"<html>"),
    "an answer that is cut off": Fault(200, content=b'{"contact": {"id": ', is_cut=True, happens=True),
    "a list": Fault(200, content=b"[]"),
}


async def talk(shop: Shop) -> None:
    """Change contacts on both sides, write in both directions, and opt out."""
    await shop.add(OURS, first_name="Ours")
    await shop.add(BOTH, last_name="Lee")
    record = shop.peer.add(phone=BOTH, firstName="Ann", email="ann@example.com")
    shop.peer.add(phone=THEIRS, firstName="Theirs")
    for id, phone, text in (("in-1", BOTH, "Hi"), ("in-2", THEIRS, "STOP"), ("in-3", OURS, "1")):
        await shop.services.inbox.receive("sandbox", InboundMessage(id, phone, shop.account.phone_number, text))
    for _ in range(2):
        await shop.deliver(shop.peer.write(record, "Hello", "msg-1"))
    await shop.deliver(shop.peer.write(shop.peer.find(THEIRS), "Hello again", "msg-2"))


async def confirm(shop: Shop) -> None:
    """Report the text of the CRM as delivered once it has left."""
    for id in (
        await OUTBOUND.where(body="Hello")
        .where_not(provider_message_id=None)
        .read(shop.services, "provider_message_id")
    ):
        await shop.services.receipts.receive("sandbox", Receipt(id, ReceiptStatus.delivered, "delivered"))


async def check(shop: Shop, *, is_certain: bool) -> None:
    """Check what both sides know, and what was sent and reported."""
    shown = {
        each["phone"]: (each["firstName"], each["lastName"], each["email"], shop.peer.is_silent(id))
        for id, each in shop.peer.contacts.items()
    }
    assert len(shop.peer.contacts) == 3
    assert shown == {
        OURS: ("Ours", "", "", False),
        BOTH: ("Ann", "Lee", "ann@example.com", False),
        THEIRS: ("Theirs", "", "", True),
    }
    known = await CONTACTS.read(shop.services, "phone", "first_name", "last_name", "email", "status")
    assert sorted(map(tuple, known)) == [
        (OURS, "Ours", "", "", "active"),
        (BOTH, "Ann", "Lee", "ann@example.com", "active"),
        (THEIRS, "Theirs", "", "", "opted_out"),
    ]
    assert await CRM_LINKS.count(shop.services) == 3
    assert await CRM_PUSHES.where_not(status="done").read(shop.services, "kind", "reason") == []
    assert await OUTBOUND.where_not(purpose="compliance").read(shop.services, "body") == ["Hello"]
    assert {id: said[-1]["status"] for id, said in shop.peer.statuses.items()} == {
        "msg-1": "delivered",
        "msg-2": "failed",
    }
    entries = Counter(each["message"] for each in shop.peer.messages)
    assert {"Hi", "STOP", "1"} <= entries.keys()
    assert "Hello" not in entries
    assert not is_certain or set(entries.values()) == {1}


async def rounds(shop: Shop) -> None:
    """Do all work, with time in between, until nothing is left to be done."""
    for _ in range(24):
        shop.move(minutes=16)
        await shop.settle()
        await confirm(shop)
    assert shop.peer.failing is None or shop.peer.failed


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("fault", [NEVER, DONE], ids=["before", "after"])
async def test_every_call_may_get_no_answer_once(shop: Shop, fault: Fault) -> None:
    await shop.connect()
    shop.peer.failing = fault

    await talk(shop)
    await rounds(shop)

    await check(shop, is_certain=not fault.happens)
    assert await shop.state("state", "sync") == ("authorized", "done")


@pytest.mark.parametrize("name", FAULTS)
async def test_every_call_may_fail_once(shop: Shop, name: str) -> None:
    await shop.connect()
    shop.peer.failing = fault = FAULTS[name]
    if name == "401":  # at this address it means that the application is not installed any more
        shop.peer.failed.add("POST /oauth/reconnect")

    await talk(shop)
    await rounds(shop)

    await check(shop, is_certain=fault is None or not fault.happens)
    assert await shop.state("state", "sync") == ("authorized", "done")


@pytest.mark.parametrize("fault", [NEVER, DONE], ids=["before", "after"])
async def test_the_worker_may_die_during_every_call(shop: Shop, fault: Fault) -> None:
    await shop.connect()
    shop.peer.failing = fault
    await talk(shop)
    deaths = 0

    for _ in range(60):
        await shop.work_until(shop.peer.hung)
        if shop.peer.hung.is_set():
            await shop.worker.abandon()
            shop.peer.hung.clear()
            deaths += 1
        shop.move(minutes=6)
        await confirm(shop)

    await check(shop, is_certain=not fault.happens)
    assert deaths == len(shop.peer.failed) >= 8

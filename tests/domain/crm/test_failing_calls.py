"""Calls that a CRM does not answer, and what was lost or begun when a worker died."""

import asyncio

import pytest

from app.domain.carriers.carrier import InboundMessage
from app.domain.crm import service
from app.domain.crm.pushing import WAITS
from app.domain.integrations import service as integrations
from app.domain.kernel.errors import Conflict
from tests.domain.crm.conftest import Shop
from tests.factories.contacts import CONTACTS
from tests.factories.crm import CRM_CONNECTIONS, CRM_LINKS, CRM_PUSHES
from tests.factories.messages import OUTBOUND
from tests.peers.highlevel import Fault
from tests.waiting import until

pytestmark = pytest.mark.anyio

PHONE, OTHER = "+12025550143", "+12025550144"
BROKEN = "The CRM answered 500: A simulated failure."


async def test_a_contact_that_the_crm_cannot_answer_keeps_no_other_back_and_is_listed_after_two_days(
    shop: Shop,
) -> None:
    await shop.connect()
    there = shop.peer.add(phone=PHONE, firstName="A")
    await shop.settle()
    shop.move(minutes=1)
    shop.peer.broken.add(f"/contacts/{there}")

    await shop.change(await CONTACTS.only(shop.services, "id"), {"first_name": "B"})
    shop.move(minutes=1)
    await shop.add(OTHER, first_name="C")
    await shop.work()
    shop.move(seconds=5)
    await shop.work()

    assert [each["firstName"] for each in shop.peer.contacts.values()] == ["A", "C"]
    for wait in WAITS:
        assert await CRM_PUSHES.where(status="waiting").read(shop.services, "kind") == ["contact"]
        shop.clock.instant += max(wait, WAITS[1])
        await shop.work()
    failed = await CRM_PUSHES.where(status="failed").only(shop.services, "id", "reason")
    assert failed["reason"] == BROKEN
    assert await CRM_PUSHES.where(status="waiting").count(shop.services) == 0

    shop.peer.broken.clear()
    async with shop.unit() as unit:
        await service.replay(unit, failed["id"])
    shop.move(minutes=15)
    await shop.settle()
    assert [each["firstName"] for each in shop.peer.contacts.values()] == ["B", "C"]


async def test_an_opt_out_does_not_wait_as_long_as_a_contact_that_failures_put_off(shop: Shop) -> None:
    await shop.connect()
    there = shop.peer.add(phone=PHONE)
    await shop.settle()
    shop.peer.broken.add(f"/contacts/{there}")
    await shop.change(await CONTACTS.only(shop.services, "id"), {"first_name": "B"})
    for _ in range(6):
        shop.move(hours=1)
        await shop.work()
    assert await CRM_PUSHES.where(status="waiting").only(shop.services, "due_at") > shop.clock.now()
    shop.peer.broken.clear()

    await shop.services.inbox.receive("sandbox", InboundMessage("in-1", PHONE, shop.account.phone_number, "STOP"))
    shop.move(minutes=15)
    await shop.settle()

    assert shop.peer.is_silent(there)


async def test_a_change_that_comes_while_the_crm_does_not_answer_is_not_put_off_with_the_former_one(shop: Shop) -> None:
    await shop.connect()
    there = shop.peer.add(phone=PHONE)
    await shop.settle()
    id = await CONTACTS.only(shop.services, "id")

    async def change() -> None:
        shop.peer.on_call = lambda: asyncio.sleep(0)
        await shop.change(id, {"first_name": "C"})
        shop.peer.faults.append(Fault(500))

    await shop.change(id, {"first_name": "B"})
    shop.peer.on_call = change
    await shop.work()
    shop.move(seconds=5)
    await shop.settle()

    assert shop.peer.contacts[there]["firstName"] == "C"


async def test_an_address_of_tokens_that_is_away_marks_no_contact_as_deleted(shop: Shop) -> None:
    await shop.connect()
    there = shop.peer.add(phone=PHONE)
    await shop.settle()
    shop.move(hours=23, minutes=58)
    shop.peer.change(there, firstName="A")
    shop.peer.faults.append(Fault(404))

    await shop.settle()
    assert await shop.state("state", "error") == ("authorized", "The CRM answered 404: A simulated failure.")
    shop.move(minutes=1)
    await shop.settle()

    assert await CRM_LINKS.only(shop.services, "is_deleted") is False
    assert await CONTACTS.only(shop.services, "first_name") == "A"


@pytest.mark.parametrize("status", [302, 401, 403, 404, 410, 422])
@pytest.mark.parametrize("call", ["POST /oauth/token", "GET /contacts/contact"])
async def test_the_page_of_a_proxy_withdraws_no_authorization_and_deletes_no_contact(
    shop: Shop, call: str, status: int
) -> None:
    await shop.connect()
    there = shop.peer.add(phone=PHONE)
    await shop.settle()
    shop.move(hours=23, minutes=58)
    shop.peer.change(there, firstName="A")
    shop.peer.failing = Fault(status, content=b"<html>Attention Required!</html>")
    shop.peer.failed = {"POST /oauth/token", "POST /oauth/reconnect", "POST /contacts/search", "GET /contacts/contact"}
    shop.peer.failed.remove(call)

    await shop.settle()
    assert await shop.state("state") == "authorized"
    assert str(status) in await shop.state("error")
    shop.move(minutes=1)
    await shop.settle()

    assert await CRM_LINKS.only(shop.services, "is_deleted") is False
    assert await CONTACTS.only(shop.services, "first_name") == "A"
    assert await CRM_PUSHES.where(status="failed").count(shop.services) == 0


async def test_tokens_that_were_lost_with_the_worker_that_renewed_them_are_asked_for_again(shop: Shop) -> None:
    await shop.connect()
    await shop.work()
    shop.move(hours=23, minutes=58)
    shop.peer.calls.clear()
    shop.peer.faults.append(Fault(None, happens=True))

    await shop.worker.run()
    await until(lambda: "POST /oauth/token" in shop.peer.calls)
    await shop.worker.abandon()
    shop.move(seconds=15)
    await shop.settle()

    assert await shop.state("state", "error") == ("authorized", "")
    assert shop.peer.calls[1:4] == ["POST /oauth/token", "POST /oauth/reconnect", "POST /oauth/token"]


async def test_a_connection_that_is_made_again_before_the_former_one_is_revoked_stays(shop: Shop, new_account) -> None:
    await shop.connect()
    await shop.work()
    async with shop.unit() as unit:
        await integrations.remove(unit, shop.ports.integrations, shop.integration_id)
    shop.peer.faults.append(Fault(500))
    await shop.work()

    shop.account = await new_account()
    await shop.connect()
    shop.move(minutes=10)
    await shop.settle()

    assert shop.peer.is_installed
    assert await CRM_CONNECTIONS.only(shop.services, "account_id", "state", "sync") == (
        shop.account.account_id,
        "authorized",
        "done",
    )


async def test_a_connection_is_not_made_again_while_the_former_one_is_being_revoked(shop: Shop) -> None:
    await shop.connect()
    await shop.work()
    async with shop.unit() as unit:
        await integrations.remove(unit, shop.ports.integrations, shop.integration_id)
    shop.peer.faults.append(Fault(None))
    await shop.worker.run()
    await until(lambda: shop.peer.calls[-1].startswith("DELETE"))

    with pytest.raises(Conflict):
        await shop.connect()
    await shop.worker.abandon()

    assert await CRM_CONNECTIONS.only(shop.services, "integration_id") is None


async def test_the_addresses_of_attachments_are_sent_with_the_text_and_alone(shop: Shop) -> None:
    await shop.connect()
    contact = shop.peer.add(phone=PHONE)
    await shop.settle()
    picture = "https://example.com/1.png"

    await shop.deliver(shop.peer.write(contact, "Look", "msg-1", picture))
    await shop.write(contact, "", "msg-2", picture)

    assert sorted(await OUTBOUND.read(shop.services, "body")) == [f"Look\n{picture}", picture]


async def test_a_page_that_does_not_tell_its_place_is_not_fetched_again_and_again(shop: Shop) -> None:
    for number in range(101):
        shop.peer.add(phone=f"+1202555{1000 + number}")
    shop.peer.notices.clear()
    shop.peer.hides_place = True
    await shop.connect()

    await shop.work()

    assert shop.peer.calls.count("POST /contacts/search") == 1
    error = "The CRM's page of contacts does not tell the place of the next one."
    assert await shop.state("sync", "error") == ("fetching", error)


async def test_no_token_is_shown_where_a_value_is_printed(shop: Shop) -> None:
    await shop.connect()
    tokens = service.unpack(shop.ports.seal, await shop.state("tokens"))

    assert repr(shop.ports.seal) == "Seal()"
    assert tokens.access not in repr(tokens)
    assert tokens.refresh not in repr(tokens)

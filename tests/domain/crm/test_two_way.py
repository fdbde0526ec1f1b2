"""Contacts, texts and statuses that travel between an account and its CRM."""

from dataclasses import replace
from functools import partial
from typing import Any

import httpx2
import pytest

from app.domain.carriers.carrier import InboundMessage, Media, Receipt, ReceiptStatus
from app.domain.crm import service
from app.domain.erasure import merging
from app.domain.erasure import service as erasure
from app.domain.erasure.merging import Merge
from app.providers.rate_limits import Policy
from app.rest import integrations
from app.services import Services
from tests.domain.crm.conftest import Shop, open_shop
from tests.factories.contacts import CONTACTS, suppress
from tests.factories.crm import CRM_LINKS, CRM_PUSHES, CRM_SENDS
from tests.factories.integrations import INTEGRATION_EVENTS
from tests.factories.messages import OUTBOUND
from tests.peers.highlevel import Fault
from tests.shared import Shared

pytestmark = pytest.mark.anyio

PHONE, OTHER = "+12025550143", "+12025550144"


async def contact_of(shop: Shop, phone: str = PHONE) -> tuple[Any, ...]:
    """Return the names, the address and do-not-disturb of the contact with a phone."""
    return tuple(await CONTACTS.where(phone=phone).only(shop.services, "first_name", "last_name", "email", "dnd_sms"))


async def test_the_first_synchronization_adds_contacts_where_they_are_missing_and_merges_those_of_a_phone(
    shop: Shop,
) -> None:
    await shop.add("+12025550141", first_name="Ours")
    await shop.add(PHONE, last_name="Lee")
    shop.peer.add(phone=PHONE, firstName="Ann", email="ann@example.com")
    shop.peer.add(phone="+12025550145", firstName="Theirs")
    shop.peer.notices.clear()

    await shop.connect()
    await shop.settle()

    assert await contact_of(shop) == ("Ann", "Lee", "ann@example.com", False)
    assert await contact_of(shop, "+12025550145") == ("Theirs", "", "", False)
    assert sorted((each["phone"], each["firstName"], each["lastName"]) for each in shop.peer.contacts.values()) == [
        ("+12025550141", "Ours", ""),
        (PHONE, "Ann", "Lee"),
        ("+12025550145", "Theirs", ""),
    ]
    assert await shop.state("sync", "fetched", "offered", "total") == ("done", 2, 3, 2)
    assert await CRM_LINKS.count(shop.services) == 3
    assert await CRM_PUSHES.where_not(status="done").count(shop.services) == 0


async def test_a_text_of_the_crm_is_sent_once_however_often_it_asks(shop: Shop) -> None:
    await shop.connect()
    contact = shop.peer.add(phone=PHONE)
    await shop.settle()
    asked = shop.peer.write(contact, "Hello from the CRM", "msg-1")

    await shop.deliver(asked)
    await shop.deliver(asked)
    await shop.write(contact, "Hello from the CRM, again", "msg-1")

    assert await OUTBOUND.read(shop.services, "body") == ["Hello from the CRM"]
    assert await CRM_SENDS.read(shop.services, "external_id", "status") == [("msg-1", "sent")]
    assert shop.peer.messages == []  # a text of the CRM is not copied back to it


async def test_too_many_notices_of_contacts_hold_up_no_text_of_the_crm(
    shop: Shop, shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(integrations, "POLICY", Policy("integration events", 1))
    await shop.connect()
    contact = shop.peer.add(phone=PHONE)
    shop.peer.change(contact, firstName="A")
    services = replace(shop.services, intake=replace(shop.intake, clock=shop.services.clock))

    transport = httpx2.ASGITransport(app=await shared.app(services), raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url=services.settings.public_url) as http:
        answers = [
            await http.post("/integrations/highlevel", content=each.body, headers=dict(each.headers))
            for each in (*shop.peer.notices, shop.peer.write(contact, "Hello"))
        ]

    assert [answer.status_code for answer in answers] == [202, 429, 202]
    assert await INTEGRATION_EVENTS.read(services, "event") == ["ContactCreate", "OutboundSms"]


async def test_many_texts_of_one_account_hold_up_no_text_of_another(
    shop: Shop, services: Services, new_account: Any
) -> None:
    make = partial(type(shop.peer), location="loc2")
    async with open_shop(services, await new_account(), make) as other:
        for each, count in ((shop, 10), (other, 1)):
            await each.connect()
            contact = each.peer.add(phone=PHONE)
            for _ in range(count):
                await each.deliver(each.peer.write(contact, "Hello"))
        shop.move(minutes=1)
        await shop.applier.run()

        await replace(shop.sends, batch=2).run()

    sent = CRM_SENDS.where(status="sent")
    assert await sent.read(services, "integration_id") == [shop.integration_id, other.integration_id]
    assert await CRM_SENDS.where(status="waiting").count(services) == 9


async def test_the_delivery_of_a_text_of_the_crm_is_reported_on_the_id_that_the_crm_gave_it(shop: Shop) -> None:
    await shop.connect()
    contact = shop.peer.add(phone=PHONE)
    await shop.settle()
    await shop.write(contact, "Hello", "msg-1")
    id = await OUTBOUND.only(shop.services, "provider_message_id")

    await shop.services.receipts.receive("sandbox", Receipt(id, ReceiptStatus.delivered, "delivered"))
    await shop.settle()

    assert shop.peer.statuses == {"msg-1": [{"status": "delivered"}]}


async def test_a_refused_text_of_the_crm_is_reported_as_failed_with_the_reason(shop: Shop) -> None:
    await shop.connect()
    contact = shop.peer.add(phone=PHONE)
    await shop.settle()
    await suppress(shop.services, shop.account.account_id, PHONE)
    await CONTACTS.where(phone=PHONE).change(shop.services, status="opted_out")

    await shop.write(contact, "Hello", "msg-1")

    assert await OUTBOUND.count(shop.services) == 0
    assert await CRM_SENDS.read(shop.services, "status", "reason") == [("refused", "contact_opted_out")]
    [status] = shop.peer.statuses["msg-1"]
    assert status["status"] == "failed"
    assert "opted out" in status["error"]["message"]
    assert shop.peer.is_silent(contact)


async def test_an_inbound_text_is_added_to_the_conversation_of_the_crm(shop: Shop) -> None:
    await shop.connect()
    await shop.settle()

    await shop.services.inbox.receive("sandbox", InboundMessage("in-1", PHONE, shop.account.phone_number, "Hi there"))
    await shop.settle()

    [record] = shop.peer.contacts.values()
    [message] = shop.peer.messages
    assert record["phone"] == PHONE
    assert (message["contactId"], message["message"], message["direction"]) == (record["id"], "Hi there", "inbound")
    assert message["conversationProviderId"] == "provider1"


async def test_the_files_of_an_inbound_text_are_added_to_the_conversation(shop: Shop) -> None:
    await shop.connect()
    picture = Media("https://media.example.com/1.jpg", "image/jpeg")

    said = InboundMessage("in-1", PHONE, shop.account.phone_number, "", media=(picture,))
    await shop.services.inbox.receive("sandbox", said)
    await shop.settle()

    assert [(each["message"], each["attachments"]) for each in shop.peer.messages] == [("", [picture.url])]


async def test_an_opt_out_reaches_the_crm_which_cannot_lift_it(shop: Shop) -> None:
    await shop.connect()
    contact = shop.peer.add(phone=PHONE)
    await shop.settle()

    await shop.services.inbox.receive("sandbox", InboundMessage("in-1", PHONE, shop.account.phone_number, "STOP"))
    await shop.settle()
    assert shop.peer.is_silent(contact)
    shop.move(hours=1)
    shop.peer.set_dnd(contact, on=False)
    await shop.settle()

    assert shop.peer.is_silent(contact)
    assert await CONTACTS.only(shop.services, "status") == "opted_out"


async def test_do_not_disturb_of_the_crm_stops_texts_and_is_lifted_there(shop: Shop) -> None:
    await shop.connect()
    contact = shop.peer.add(phone=PHONE)
    await shop.settle()

    shop.move(minutes=1)
    shop.peer.set_dnd(contact, on=True)
    await shop.settle()
    assert (await contact_of(shop))[3] is True
    shop.move(minutes=1)
    shop.peer.set_dnd(contact, on=False)
    await shop.settle()
    assert (await contact_of(shop))[3] is False


async def test_the_later_change_of_a_field_wins_and_changes_of_other_fields_are_kept(shop: Shop) -> None:
    await shop.connect()
    contact = shop.peer.add(phone=PHONE, firstName="A", lastName="A")
    await shop.settle()
    id = await CONTACTS.only(shop.services, "id")

    shop.move(minutes=1)
    await shop.change(id, {"first_name": "Ours", "email": "ours@example.com"})
    shop.move(minutes=1)
    shop.peer.change(contact, firstName="Theirs", lastName="Theirs")
    await shop.settle()

    record = shop.peer.contacts[contact]
    assert await contact_of(shop) == ("Theirs", "Theirs", "ours@example.com", False)
    assert (record["firstName"], record["lastName"], record["email"]) == ("Theirs", "Theirs", "ours@example.com")


async def test_a_change_goes_round_once_without_an_echo(shop: Shop) -> None:
    await shop.connect()
    contact = shop.peer.add(phone=PHONE)
    await shop.settle()
    shop.peer.calls.clear()
    shop.move(minutes=1)

    await shop.change(await CONTACTS.only(shop.services, "id"), {"first_name": "Ann"})
    await shop.settle()

    assert [call for call in shop.peer.calls if call.startswith("PUT")] == [f"PUT /contacts/{contact}"]
    assert await CRM_PUSHES.where(status="waiting").count(shop.services) == 0


async def test_a_contact_that_is_deleted_on_one_side_stays_on_the_other_and_is_not_added_again(shop: Shop) -> None:
    await shop.connect()
    there, here = shop.peer.add(phone=PHONE, firstName="A"), shop.peer.add(phone=OTHER, firstName="B")
    await shop.settle()
    id = await CONTACTS.where(phone=PHONE).only(shop.services, "id")
    shop.peer.delete(there)
    async with shop.unit() as unit:
        await erasure.erase(unit, await CONTACTS.where(phone=OTHER).only(shop.services, "id"))
    await shop.settle()

    shop.move(minutes=1)
    await shop.change(id, {"first_name": "C"})
    shop.peer.change(here, firstName="D")
    await shop.settle()

    assert list(shop.peer.contacts) == [here]
    assert await CONTACTS.read(shop.services, "phone", "first_name") == [(PHONE, "C")]


async def test_a_contact_that_was_deleted_here_and_is_added_here_again_follows_the_crm_again(shop: Shop) -> None:
    await shop.connect()
    there = shop.peer.add(phone=PHONE, firstName="A")
    await shop.settle()
    async with shop.unit() as unit:
        await erasure.erase(unit, await CONTACTS.only(shop.services, "id"))
    await shop.settle()

    await shop.add(PHONE, last_name="Lee")
    await shop.settle()

    assert await contact_of(shop) == ("A", "Lee", "", False)
    assert shop.peer.contacts[there]["lastName"] == "Lee"


async def test_a_person_who_was_deleted_in_the_crm_and_texts_again_is_added_again(shop: Shop) -> None:
    await shop.connect()
    shop.peer.delete(shop.peer.add(phone=PHONE))
    shop.peer.add(phone=OTHER)
    await shop.settle()
    await shop.services.inbox.receive("sandbox", InboundMessage("in-1", OTHER, shop.account.phone_number, "1"))
    await shop.settle()
    [again] = [each["id"] for each in shop.peer.contacts.values() if each["phone"] == OTHER]
    shop.peer.delete(again)
    shop.peer.notices.clear()  # the notice of the deletion was lost

    await shop.services.inbox.receive("sandbox", InboundMessage("in-2", OTHER, shop.account.phone_number, "2"))
    await shop.settle()

    assert [each["message"] for each in shop.peer.messages] == ["1", "2"]
    assert [each["phone"] for each in shop.peer.contacts.values()] == [OTHER]


async def test_a_push_that_the_crm_refuses_is_listed_with_its_reason_and_retried_on_demand(shop: Shop) -> None:
    await shop.connect()
    await shop.settle()
    shop.peer.faults.extend([Fault(422)])
    contact = await shop.add(PHONE)
    await shop.work()

    [(id, reason)] = await CRM_PUSHES.where(status="failed").read(shop.services, "id", "reason")
    assert reason == "The CRM answered 422: A simulated failure."
    async with shop.unit() as unit:
        await service.replay(unit, id)
    await shop.settle()

    assert [each["phone"] for each in shop.peer.contacts.values()] == [contact.phone]


async def test_lost_notices_are_made_up_for_within_ten_minutes(shop: Shop) -> None:
    await shop.connect()
    contact = shop.peer.add(phone=PHONE, firstName="A")
    await shop.settle()
    shop.move(minutes=5)
    shop.peer.change(contact, firstName="B")
    shop.peer.notices.clear()

    shop.move(minutes=6)
    await shop.settle()

    assert (await contact_of(shop))[0] == "B"


async def test_a_synchronization_that_is_killed_goes_on_at_its_page(shop: Shop) -> None:
    for number in range(250):
        shop.peer.add(phone=f"+1202555{1000 + number}")
        shop.clock.instant = shop.clock.instant.replace(microsecond=number * 4000)
    shop.peer.notices.clear()
    await shop.connect()
    crashing = replace(shop.worker)
    await crashing.run()
    await crashing.abandon()

    shop.move(seconds=15)
    await shop.settle()

    assert await shop.state("sync", "total") == ("done", 250)
    assert await CONTACTS.count(shop.services) == 250
    assert len(shop.peer.contacts) == 250


async def test_a_text_of_a_contact_that_is_merged_before_the_crm_answers_is_added_to_the_one_that_remains(
    shop: Shop,
) -> None:
    await shop.connect()
    kept = shop.peer.add(phone=PHONE)
    shop.peer.add(phone=OTHER)
    await shop.settle()
    shop.peer.faults.append(Fault(500))
    await shop.services.inbox.receive("sandbox", InboundMessage("in-1", OTHER, shop.account.phone_number, "Hi"))
    await shop.work()
    assert await CRM_PUSHES.where(status="waiting").read(shop.services, "kind") == ["inbound"]

    into, other = [await CONTACTS.where(phone=phone).only(shop.services, "id") for phone in (PHONE, OTHER)]
    async with shop.unit() as unit:
        shown = await merging.preview(unit, Merge(into, other))
    async with shop.unit() as unit:
        await merging.merge(unit, Merge(into, other), shown.preview_id)
    shop.move(minutes=1)
    await shop.settle()

    assert [(each["contactId"], each["message"]) for each in shop.peer.messages] == [(kept, "Hi")]
    assert await CRM_PUSHES.where_not(status="done").count(shop.services) == 0

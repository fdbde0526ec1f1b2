"""Erasure of contacts that a CRM has sent texts to, or changes at the same time."""

import pytest

from app.domain.contacts import queries as contacts
from app.domain.erasure import merging
from app.domain.erasure import service as erasure
from app.domain.erasure.merging import Merge
from tests.domain.crm.conftest import Shop
from tests.factories.contacts import CONTACTS
from tests.factories.crm import CRM_LINKS, CRM_PUSHES, CRM_SENDS
from tests.factories.integrations import INTEGRATION_EVENTS
from tests.factories.traps import until_blocked
from tests.waiting import within

pytestmark = pytest.mark.anyio

PHONE, OTHER = "+12025550143", "+12025550144"


async def test_an_erased_contact_leaves_no_text_and_no_notice_of_the_crm(shop: Shop) -> None:
    await shop.connect()
    contact = shop.peer.add(phone="(202) 555-0143", firstName="Ann")
    await shop.settle()
    await shop.write(contact, "Your results are in", "msg-1")

    async with shop.unit() as unit:
        await erasure.erase(unit, await CONTACTS.only(shop.services, "id"))

    assert await CRM_SENDS.only(shop.services, "phone", "body", "status") == ("", "", "sent")
    assert set(await INTEGRATION_EVENTS.read(shop.services, "body", "status")) == {("", "applied")}
    left = [*await CRM_LINKS.texts(shop.services), *await CRM_PUSHES.texts(shop.services)]
    assert [row for row in left if any(word in row for word in ("Ann", "5550143", "555-0143"))] == []


async def test_a_text_of_the_crm_to_the_former_phone_of_a_contact_is_erased_with_the_contact(shop: Shop) -> None:
    await shop.connect()
    contact = shop.peer.add(phone=PHONE)
    await shop.settle()
    await shop.write(contact, "Your results are in", "msg-1")
    id = await CONTACTS.only(shop.services, "id")
    await shop.change(id, {"phone": OTHER})
    await shop.settle()

    async with shop.unit() as unit:
        await erasure.erase(unit, id)

    assert await CRM_SENDS.only(shop.services, "phone", "body", "status") == ("", "", "sent")


async def test_a_text_of_the_crm_to_a_merged_contact_is_erased_with_the_one_that_remains(shop: Shop) -> None:
    await shop.connect()
    shop.peer.add(phone=PHONE)
    merged = shop.peer.add(phone=OTHER)
    await shop.settle()
    await shop.write(merged, "Your results are in", "msg-1")
    into, other = [await CONTACTS.where(phone=phone).only(shop.services, "id") for phone in (PHONE, OTHER)]
    async with shop.unit() as unit:
        shown = await merging.preview(unit, Merge(into, other))
    async with shop.unit() as unit:
        await merging.merge(unit, Merge(into, other), shown.preview_id)

    async with shop.unit() as unit:
        await erasure.erase(unit, into)

    assert await CRM_SENDS.only(shop.services, "phone", "body", "status") == ("", "", "sent")


async def test_a_contact_that_is_erased_while_the_crm_changes_it_is_not_added_again(shop: Shop) -> None:
    await shop.connect()
    there = shop.peer.add(phone=PHONE, firstName="Ann")
    await shop.settle()
    id = await CONTACTS.only(shop.services, "id")
    shop.peer.change(there, firstName="Anna")
    await shop.deliver_all()
    await shop.applier.run()

    async with shop.unit() as unit:
        await contacts.get(unit, id, lock=True)
        await shop.worker.run()
        await until_blocked(shop.services.database.pool)
        await erasure.erase(unit, id)
    await within("the end of the turn", shop.worker.idle())
    await shop.settle()

    assert await shop.state("error") == ""
    assert await CONTACTS.count(shop.services) == 0
    assert await CRM_LINKS.only(shop.services, "contact_id", "external_id", "fields") == (None, there, {})

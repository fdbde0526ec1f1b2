"""Values that one side refuses, and records of a CRM that share or exchange phones."""

import asyncio

import pytest

from app.domain.carriers.carrier import InboundMessage
from app.domain.erasure import service as erasure
from tests.domain.crm.conftest import Shop
from tests.factories.contacts import CONTACTS
from tests.factories.crm import CRM_LINKS, CRM_PUSHES
from tests.peers.highlevel import Fault

pytestmark = pytest.mark.anyio

PHONE, OTHER, THIRD = "+12025550143", "+12025550144", "+12025550145"
SHARED = "home@example.com"


async def phones_of(shop: Shop) -> dict[str, str]:
    """Return the phones of the contacts here that have a link, by their ids in the CRM."""
    phones = dict(await CONTACTS.read(shop.services, "id", "phone"))
    links = await CRM_LINKS.where(is_deleted=False).read(shop.services, "external_id", "contact_id")
    return {external_id: phones[contact_id] for external_id, contact_id in links if contact_id}


async def test_a_contact_with_the_address_of_another_record_leaves_that_record_as_it_is(shop: Shop) -> None:
    await shop.connect()
    known = shop.peer.add(phone=PHONE, firstName="Ann", email=SHARED)
    await shop.settle()

    await shop.add(OTHER, first_name="Bob", email=SHARED)
    await shop.services.inbox.receive("sandbox", InboundMessage("in-1", OTHER, shop.account.phone_number, "Hi"))
    await shop.settle()

    [added] = [id for id in shop.peer.contacts if id != known]
    shown = {id: (each["phone"], each["firstName"], each["email"]) for id, each in shop.peer.contacts.items()}
    assert shown == {known: (PHONE, "Ann", SHARED), added: (OTHER, "Bob", "")}
    assert [(each["contactId"], each["message"]) for each in shop.peer.messages] == [(added, "Hi")]
    reasons = set(await CRM_PUSHES.where(status="failed").read(shop.services, "reason"))
    assert reasons == {"The CRM answered 400: This location does not allow duplicated contacts."}
    assert await CRM_PUSHES.where(status="waiting").count(shop.services) == 0


async def test_an_opt_out_and_a_name_reach_the_crm_with_an_address_that_it_refuses(shop: Shop) -> None:
    await shop.connect()
    shop.peer.add(phone=PHONE, email=SHARED)
    mine = shop.peer.add(phone=OTHER, firstName="Bob")
    await shop.settle()
    id = await CONTACTS.where(phone=OTHER).only(shop.services, "id")
    shop.move(minutes=1)

    await shop.change(id, {"email": SHARED, "first_name": "Rob"})
    await shop.services.inbox.receive("sandbox", InboundMessage("in-1", OTHER, shop.account.phone_number, "STOP"))
    await shop.settle()

    record = shop.peer.contacts[mine]
    assert shop.peer.is_silent(mine)
    assert (record["firstName"], record["email"]) == ("Rob", "")


async def test_do_not_disturb_of_a_record_is_taken_over_with_a_name_that_is_too_long(shop: Shop) -> None:
    await shop.connect()
    there = shop.peer.add(phone=PHONE, firstName="Ann")
    await shop.settle()
    shop.move(minutes=1)

    shop.peer.change(there, firstName="A" * 101, lastName="Lee")
    shop.peer.set_dnd(there, on=True)
    await shop.settle()

    assert await CONTACTS.only(shop.services, "first_name", "last_name", "dnd_sms") == ("Ann", "Lee", True)
    assert shop.peer.contacts[there]["firstName"] == "A" * 101
    reasons = set(await CRM_PUSHES.where(status="failed").read(shop.services, "external_id", "reason"))
    assert reasons == {(there, "first_name must have at most 100 characters.")}


@pytest.mark.parametrize("is_late", [False, True])
async def test_records_that_were_merged_in_the_crm_lead_to_the_contact_with_the_phone(
    shop: Shop, is_late: bool
) -> None:
    await shop.connect()
    kept, gone = shop.peer.add(phone=PHONE, firstName="Ann"), shop.peer.add(phone=OTHER)
    await shop.settle()
    shop.move(minutes=1)

    shop.peer.delete(gone)
    shop.peer.change(kept, phone=OTHER)
    if is_late:
        shop.peer.notices.reverse()  # the notice of the change comes before that of the deletion
    for notice in list(shop.peer.notices):
        await shop.deliver(notice)
        await shop.work()
    shop.peer.notices.clear()
    await shop.settle()

    assert await phones_of(shop) == {kept: OTHER}
    assert await CRM_PUSHES.where(status="failed").count(shop.services) == 0
    assert await CONTACTS.where(phone=OTHER).only(shop.services, "first_name") == "Ann"


async def test_records_that_exchanged_their_phones_lead_to_the_contacts_with_the_phones(shop: Shop) -> None:
    await shop.connect()
    first, second = shop.peer.add(phone=PHONE), shop.peer.add(phone=OTHER)
    await shop.settle()
    shop.move(minutes=1)

    shop.peer.change(first, phone=THIRD)
    shop.peer.change(second, phone=PHONE)
    shop.peer.change(first, phone=OTHER)
    shop.peer.notices.reverse()
    await shop.settle()

    assert await phones_of(shop) == {first: OTHER, second: PHONE}
    assert await CRM_PUSHES.where_not(status="done").count(shop.services) == 0


async def test_a_second_record_with_a_phone_is_refused_with_the_reason(shop: Shop) -> None:
    await shop.connect()
    first = shop.peer.add(phone=PHONE, firstName="Ann")
    second = shop.peer.add(phone=PHONE, firstName="Bob")
    await shop.settle()

    assert await phones_of(shop) == {first: PHONE}
    assert await CONTACTS.only(shop.services, "first_name") == "Ann"
    reasons = set(await CRM_PUSHES.where(status="failed").read(shop.services, "external_id", "reason"))
    assert reasons == {(second, f"The contact {first} of the CRM has the same phone.")}


async def test_a_contact_with_a_new_phone_follows_the_unlinked_record_that_has_it(shop: Shop) -> None:
    await shop.connect()
    first, second = shop.peer.add(phone=PHONE, lastName="Lee"), shop.peer.add(phone=OTHER, lastName="A")
    await shop.settle()
    async with shop.unit() as unit:
        await erasure.erase(unit, await CONTACTS.where(phone=OTHER).only(shop.services, "id"))
    await shop.settle()
    shop.move(minutes=1)

    await shop.change(await CONTACTS.only(shop.services, "id"), {"phone": OTHER})
    await shop.settle()

    assert await phones_of(shop) == {first: PHONE, second: OTHER}
    assert {id: each["lastName"] for id, each in shop.peer.contacts.items()} == {first: "Lee", second: "Lee"}
    assert await CRM_PUSHES.where_not(status="done").count(shop.services) == 0


async def test_a_record_that_is_refused_is_listed_once_for_each_of_its_changes(shop: Shop) -> None:
    await shop.connect()
    there = shop.peer.add(phone=PHONE, firstName="Ann")
    nameless = shop.peer.add(phone="", firstName="Bob")
    await shop.settle()
    shop.peer.notices.clear()
    counts = list[int]()
    for _ in range(3):
        shop.move(minutes=11)
        await shop.settle()
        counts.append(await CRM_PUSHES.where(status="failed").count(shop.services))
    shop.peer.change(nameless, firstName="Bo")
    shop.peer.notices.clear()
    shop.move(minutes=11)
    await shop.settle()

    assert await phones_of(shop) == {there: PHONE}
    assert counts == [counts[0]] * 3
    assert await CRM_PUSHES.where(status="failed").count(shop.services) == counts[0] + 1


async def test_a_contact_whose_record_was_deleted_follows_the_record_that_has_its_new_phone(shop: Shop) -> None:
    await shop.connect()
    gone, kept = shop.peer.add(phone=PHONE, firstName="A"), shop.peer.add(phone=OTHER, firstName="B")
    await shop.settle()
    id = await CONTACTS.where(phone=PHONE).only(shop.services, "id")
    async with shop.unit() as unit:
        await erasure.erase(unit, await CONTACTS.where(phone=OTHER).only(shop.services, "id"))
    shop.peer.delete(gone)
    shop.move(minutes=1)

    await shop.change(id, {"phone": OTHER, "first_name": "C"})
    await shop.settle()

    assert shop.peer.contacts[kept]["firstName"] == "C"
    assert await CRM_LINKS.where_not(contact_id=None).read(shop.services, "contact_id", "external_id") == [(id, kept)]


async def test_a_value_that_is_corrected_while_the_crm_refuses_the_former_one_reaches_the_crm(shop: Shop) -> None:
    await shop.connect()
    there = shop.peer.add(phone=PHONE, firstName="A")
    await shop.settle()
    id = await CONTACTS.only(shop.services, "id")
    shop.move(minutes=1)

    async def correct() -> None:
        if shop.peer.calls[-1].startswith("PUT"):
            shop.peer.on_call = lambda: asyncio.sleep(0)
            await shop.change(id, {"first_name": "C"})
            shop.peer.faults.append(Fault(422))

    await shop.change(id, {"first_name": "B"})
    shop.peer.on_call = correct
    await shop.work()

    assert shop.peer.contacts[there]["firstName"] == "C"
    assert await CRM_PUSHES.where_not(status="done").count(shop.services) == 0

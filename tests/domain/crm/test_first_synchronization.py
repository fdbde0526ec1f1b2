"""Pages of records that are taken over together, and those that are not."""

import asyncio
from functools import partial
from typing import Any

import pytest

from app.domain.crm import service
from app.domain.erasure import service as erasure
from app.services import Services
from tests.domain.crm.conftest import Shop, open_shop
from tests.factories.contacts import CONTACTS, suppress
from tests.factories.crm import CRM_LINKS, CRM_PUSHES
from tests.factories.tables import Rows
from tests.graphql.test_linked_records import session_statements
from tests.peers.highlevel import HighLevelPeer

pytestmark = pytest.mark.anyio

EVENTS = Rows("events")
PHONES = [f"+1202555{number}" for number in range(1000, 1011)]


async def test_a_page_has_the_same_result_as_its_records_one_by_one(shop: Shop) -> None:
    here = {
        1: {"first_name": "A", "last_name": "L", "email": "a@example.com"},  # as there
        2: {"first_name": "A", "email": "b@example.com"},  # there is less
        3: {"first_name": "A"},  # there is more
        4: {"first_name": "A"},  # there is another name, which is older
        5: {"dnd_sms": True},
    }
    there = {
        0: {"firstName": "A", "email": "new@example.com"},
        1: {"firstName": "A", "lastName": "L", "email": "a@example.com"},
        2: {"firstName": "A"},
        3: {"firstName": "A", "lastName": "L"},
        4: {"firstName": "B"},
        5: {"firstName": "A"},
        6: {"firstName": "A", "dndSettings": {"SMS": {"status": "permanent"}}},
        7: {"firstName": "A"},  # opted out
        8: {"firstName": "A" * 101},
    }
    for number, values in there.items():
        shop.peer.add(phone=PHONES[number], **values)
    second = shop.peer.add(phone=PHONES[0], firstName="B")
    invalid = shop.peer.add(phone="12", firstName="B")
    shop.peer.notices.clear()
    shop.move(minutes=1)
    for number, fields in here.items():
        contact = await shop.add(PHONES[number], **{**fields, "first_name": ""})
        await shop.change(contact.id, {"first_name": fields.get("first_name", "")})
    await suppress(shop.services, shop.account.account_id, PHONES[7])

    await shop.connect()
    await shop.settle()

    names = "phone", "first_name", "last_name", "email", "status", "dnd_sms"
    found = {PHONES.index(row[0]): tuple(row[1:]) for row in await CONTACTS.read(shop.services, *names)}
    assert found == {
        0: ("A", "", "new@example.com", "active", False),
        1: ("A", "L", "a@example.com", "active", False),
        2: ("A", "", "b@example.com", "active", False),
        3: ("A", "L", "", "active", False),
        4: ("A", "", "", "active", False),
        5: ("A", "", "", "active", True),
        6: ("A", "", "", "active", True),
        7: ("A", "", "", "opted_out", False),
        8: ("", "", "", "active", False),
    }
    records = {each["id"]: each for each in shop.peer.contacts.values() if each["id"] not in (second, invalid)}
    assert [(each["firstName"][:1], each["lastName"], each["email"]) for each in records.values()] == [
        ("A", "", "new@example.com"),
        ("A", "L", "a@example.com"),
        ("A", "", "b@example.com"),
        ("A", "L", ""),
        *[("A", "", "")] * 5,
    ]
    assert [id for id in records if shop.peer.is_silent(id)] == [list(records)[number] for number in (5, 6, 7)]
    assert await CRM_LINKS.count(shop.services) == 9
    failed = dict(await CRM_PUSHES.where(status="failed").read(shop.services, "external_id", "reason"))
    assert failed.pop(invalid).startswith("'12' is not a phone")
    assert set(failed.values()) == {
        f"The contact {next(iter(records))} of the CRM has the same phone.",
        "first_name must have at most 100 characters.",
    }
    assert await EVENTS.where(name="new_contact").count(shop.services) == 9


async def test_contacts_that_the_crm_gave_are_not_pushed_back_and_a_second_synchronization_changes_nothing(
    shop: Shop,
) -> None:
    for phone in PHONES:
        shop.peer.add(phone=phone, firstName="A")
    shop.peer.notices.clear()
    await shop.connect()
    await shop.settle()
    assert await CRM_PUSHES.count(shop.services) == 0
    async with shop.unit() as unit:
        await erasure.erase(unit, await CONTACTS.where(phone=PHONES[0]).only(shop.services, "id"))
    links = await CRM_LINKS.read(shop.services, "contact_id", "external_id", "fields")
    shop.peer.calls.clear()

    async with shop.unit() as unit:
        await service.synchronize(unit, shop.integration_id)
    await shop.settle()

    assert shop.peer.calls == ["POST /contacts/search"]
    assert await CRM_LINKS.read(shop.services, "contact_id", "external_id", "fields") == links
    assert await CONTACTS.count(shop.services) == len(PHONES) - 1
    assert await CRM_PUSHES.count(shop.services) == 0


async def test_contacts_that_changed_together_long_ago_are_not_fetched_every_ten_minutes(shop: Shop) -> None:
    for number in range(150):
        shop.move(seconds=0.01)
        shop.peer.add(phone=f"+1202555{1000 + number}")
    shop.peer.notices.clear()
    shop.move(minutes=30)
    await shop.connect()
    await shop.settle()
    shop.peer.calls.clear()

    shop.move(minutes=10)
    await shop.settle()

    assert shop.peer.calls == ["POST /contacts/search"]


async def test_the_progress_counts_contacts_that_are_added_while_the_others_are_fetched(shop: Shop) -> None:
    for number in range(101):
        shop.peer.add(phone=f"+1202555{1000 + number}")

    async def add() -> None:
        if shop.peer.calls.count("POST /contacts/search") == 2:
            shop.peer.on_call = lambda: asyncio.sleep(0)
            shop.peer.add(phone="+12025552000")

    shop.peer.on_call = add
    await shop.connect()
    await shop.work()

    assert await shop.state("sync", "fetched", "offered", "total") == ("done", 102, 102, 102)


SILENT = {"dndSettings": {"SMS": {"status": "active"}}}


@pytest.mark.parametrize("values", [{}, SILENT], ids=["plain", "do not disturb"])
async def test_a_page_of_many_contacts_takes_as_many_statements_as_a_page_of_one(
    services: Services, new_account: Any, values: dict[str, Any]
) -> None:
    counts = list[tuple[int, int]]()
    for contacts in (1, 99):
        account = await new_account()
        async with open_shop(services, account, partial(HighLevelPeer, location=f"loc{account.account_id}")) as other:
            for number in range(contacts):
                other.peer.add(phone=f"+1202555{1000 + number}", firstName="A", **values)
            other.peer.notices.clear()
            await other.connect()
            first = await count_statements(other)
            async with other.unit() as unit:
                await service.synchronize(unit, other.integration_id)
            counts.append((first, await count_statements(other)))
        own = CONTACTS.where(account_id=account.account_id, dnd_sms=values == SILENT)
        assert await own.count(services) == contacts
        assert await CRM_PUSHES.where(account_id=account.account_id).count(services) == 0

    assert counts[0] == counts[1]


@pytest.mark.parametrize("is_linked", [False, True], ids=["first", "later"])
async def test_do_not_disturb_of_many_known_contacts_takes_as_many_statements_as_that_of_one(
    services: Services, new_account: Any, is_linked: bool
) -> None:
    counts = list[int]()
    for contacts in (1, 60):
        account = await new_account()
        async with open_shop(services, account, partial(HighLevelPeer, location=f"loc{account.account_id}")) as other:
            for number in range(contacts):
                await other.add(f"+1202555{1000 + number}", first_name="A")
                other.peer.add(phone=f"+1202555{1000 + number}", firstName="A", **({} if is_linked else SILENT))
            other.peer.notices.clear()
            await other.connect()
            if is_linked:
                await other.work()
                other.move(minutes=1)
                for id in other.peer.contacts:
                    other.peer.set_dnd(id, on=True)
                async with other.unit() as unit:
                    await service.synchronize(unit, other.integration_id)
            counts.append(await count_statements(other))
        own = {"account_id": account.account_id}
        assert await CONTACTS.where(**own, dnd_sms=True).count(services) == contacts
        assert await CRM_LINKS.where(**own).read(services, "fields") == [
            {"phone": f"+1202555{1000 + number}", "first_name": "A", "last_name": "", "email": "", "dnd": True}
            for number in range(contacts)
        ]
        assert await CRM_PUSHES.where(**own, status="waiting").count(services) == 0
        assert await EVENTS.where(**own, name="contact_dnd_changed").count(services) == contacts

    assert counts[0] == counts[1]


async def test_do_not_disturb_of_a_newer_record_does_not_let_an_older_name_here_win(shop: Shop) -> None:
    await shop.add(PHONES[0], first_name="Jon")
    shop.move(minutes=1)
    record = shop.peer.add(phone=PHONES[0], firstName="John", **SILENT)
    shop.peer.notices.clear()
    shop.move(minutes=1)

    await shop.connect()
    await shop.settle()

    assert await CONTACTS.only(shop.services, "first_name", "dnd_sms") == ("John", True)
    assert shop.peer.contacts[record]["firstName"] == "John"
    assert [call for call in shop.peer.calls if call.startswith("PUT")] == []


async def count_statements(shop: Shop) -> int:
    """Synchronize all contacts in one turn; return the number of statements."""
    with session_statements() as statements:
        await shop.worker.run()
        await shop.worker.idle()
    return len(statements)

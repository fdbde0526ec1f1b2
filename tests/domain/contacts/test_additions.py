"""Many contacts that are added by one statement."""

import asyncio
import threading

import pytest

from app.domain.contacts import additions, service
from app.domain.contacts.additions import AddedContact
from app.domain.contacts.events import NewContact
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import UnitFor
from tests.factories.contacts import CONTACTS
from tests.factories.events import EVENTS
from tests.factories.traps import until_blocked
from tests.waiting import PATIENCE_SECONDS, within

pytestmark = pytest.mark.anyio

COLUMNS = ("phone", "first_name", "email", "tags", "custom_fields", "status", "dnd_sms", "assignee_id", "source")
ODD = ['a"b', "c\\d", "{x,y}", "e,f", "NULL", "line\nbreak", " ", "Zoë 😀", "'"]


def events_of(contact: AddedContact) -> list[NewContact]:
    """Return the event of an added contact."""
    return [NewContact.of(contact)]


async def test_contacts_that_differ_in_every_column_are_added_as_they_are(
    services: Services, unit_for: UnitFor, account: Opened
) -> None:
    async with unit_for(account) as unit:
        first = AddedContact("+12025550143", "Ann", "", "ann@example.com", ODD, source="x", assignee_id=7)
        second = AddedContact("+12025550142", 'B"\\', tags=[], custom_fields={"a\"'": ODD}, dnd_sms=True)
        second.status = "opted_out"
        added = await additions.add_many(unit, [first, second], events_of)

    assert [each.phone for each in added] == ["+12025550143", "+12025550142"]
    assert await CONTACTS.where(id=first.id).read(services, *COLUMNS) == [
        ("+12025550143", "Ann", "ann@example.com", ODD, {}, "active", False, 7, "x")
    ]
    assert await CONTACTS.where(id=second.id).read(services, *COLUMNS) == [
        ("+12025550142", 'B"\\', "", [], {"a\"'": ODD}, "opted_out", True, None, "")
    ]
    assert await CONTACTS.read(services, "created_at", "updated_at") == [(first.created_at, first.created_at)] * 2


async def test_contacts_that_are_equal_but_for_their_phones_are_added_with_the_same_values(
    services: Services, unit_for: UnitFor, account: Opened
) -> None:
    async with unit_for(account) as unit:
        new = [AddedContact(f"+1202555010{n}", "Ann", tags=ODD, custom_fields={"x": 1}) for n in range(3)]
        await additions.add_many(unit, new, events_of)

    assert await CONTACTS.read(services, "first_name", "tags", "custom_fields") == [("Ann", ODD, {"x": 1})] * 3


async def test_a_phone_that_the_account_has_already_is_not_added_again(
    services: Services, unit_for: UnitFor, account: Opened
) -> None:
    async with unit_for(account) as unit:
        await additions.add_many(unit, [AddedContact("+12025550143", "Ann")], events_of)
        again = [AddedContact("+12025550143", "Bob"), AddedContact("+12025550142", "Cy")]
        added = await additions.add_many(unit, again, events_of)
        nothing = await additions.add_many(unit, [], events_of)

    assert ([each.phone for each in added], nothing) == (["+12025550142"], [])
    assert again[0].id == 0
    assert sorted(await CONTACTS.read(services, "first_name")) == ["Ann", "Cy"]
    events = await EVENTS.where(name="new_contact").read(services, "contact_id", "payload")
    assert [payload["first_name"] for _, payload in events] == ["Ann", "Cy"]
    assert sorted(contact_id for contact_id, _ in events) == sorted(await CONTACTS.read(services, "id"))


async def test_contacts_are_added_while_all_usual_threads_are_taken(
    services: Services, unit_for: UnitFor, account: Opened
) -> None:
    loop, end = asyncio.get_running_loop(), threading.Event()
    taken = [loop.run_in_executor(None, end.wait, PATIENCE_SECONDS) for _ in range(40)]
    try:
        async with unit_for(account) as unit:
            await additions.add_many(unit, [AddedContact("+12025550143", "Ann")], events_of)
        assert not any(each.done() for each in taken)
    finally:
        end.set()
        await asyncio.gather(*taken)

    assert await EVENTS.where(name="new_contact").count(services) == 1


async def test_no_statement_follows_the_end_of_a_transaction_whose_events_could_not_be_written(
    services: Services, unit_for: UnitFor, account: Opened
) -> None:
    async def add() -> None:
        async with unit_for(account) as unit:
            new = [AddedContact("+12025550142", "Ann"), AddedContact("+12025550143", "Bob")]
            await additions.add_many(unit, new, fail)

    def fail(contact: AddedContact) -> list[NewContact]:
        raise ValueError(contact.phone)

    async with unit_for(account) as unit:
        await service.create(unit, {"phone": "+12025550143"})
        adding = asyncio.create_task(add())
        await until_blocked(services.database.pool)
    with pytest.raises(ValueError, match="550142"):
        await within("the addition", adding)

    assert "_add" not in {each.get_coro().__name__ for each in asyncio.all_tasks()}
    assert await CONTACTS.read(services, "phone") == ["+12025550143"]

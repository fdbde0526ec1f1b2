"""Removing an integration: it is gone at once for everybody, and its rows are deleted in batches."""

import asyncio
from datetime import timedelta

import pytest

from app.bootstrap import METADATA, open_leftovers
from app.domain.bulk import field_uses
from app.domain.contacts import custom_fields
from app.domain.crm import account_tables as crm
from app.domain.integrations import account_tables, leftovers, queries, service
from app.domain.integrations.models import Integration
from app.domain.kernel.errors import NotFound
from app.domain.kernel.paging import Window
from tests.domain.integrations.conftest import START, Office
from tests.domain.integrations.test_contract_of_tools import CREATED, VISIT
from tests.factories.accounts import ACCOUNTS
from tests.factories.contacts import CONTACTS
from tests.factories.integrations import (
    BOOKING_TEXTS,
    BOOKINGS,
    INTEGRATION_EVENTS,
    INTEGRATIONS,
    SECRET,
    add_bookings,
)
from tests.factories.plans import NO_SORTS, plan_when_new
from tests.factories.tables import Rows
from tests.factories.traps import locked, until_blocked
from tests.peers import calcom
from tests.waiting import within

pytestmark = pytest.mark.anyio

TABLES = (BOOKINGS, INTEGRATION_EVENTS, BOOKING_TEXTS)


async def remove(office: Office, integration: Integration) -> Integration:
    """Remove an integration."""
    async with office.unit() as unit:
        return await service.remove(unit, office.intake.ports, integration.id)


async def empty(office: Office) -> None:
    """Delete what is left of removed integrations."""
    job = open_leftovers(office.services)
    while await job.run():
        pass


async def counts(office: Office) -> list[int]:
    """Return the numbers of bookings, events and texts."""
    return [await table.count(office.services) for table in TABLES]


async def test_a_removed_integration_leaves_all_lists_at_once_with_its_events_and_bookings(office: Office) -> None:
    kept, removed = await office.connect("calendly"), await office.connect("calcom")
    for each in (kept, removed):
        await office.post(each, CREATED[each.kind])
    await office.work()
    contact = await CONTACTS.only(office.services, "id")

    answer = await remove(office, removed)

    assert (answer.id, answer.status) == (removed.id, "removed")
    assert await counts(office) == [2, 2, 6]
    async with office.unit() as unit:
        assert [each.id for each in await queries.list_own(unit)] == [kept.id]
        assert await queries.count_own(unit) == 1
        for rows in (
            (await queries.find_bookings(unit, None, None, Window())).nodes,
            (await queries.find_bookings(unit, contact, None, Window())).nodes,
            (await queries.find_events(unit, None, None, Window())).nodes,
            await queries.list_bookings_of_contact(unit, contact, None, 50),
        ):
            assert [each.integration_id for each in rows] == [kept.id]
        assert not (await queries.find_events(unit, removed.id, None, Window())).nodes


async def test_a_removed_integration_is_not_found_by_any_id_or_address(office: Office) -> None:
    integration = await office.connect("calcom")
    await office.post(integration, CREATED["calcom"])
    await office.work()
    booking, event = await BOOKINGS.only(office.services, "id"), await INTEGRATION_EVENTS.only(office.services, "id")
    await remove(office, integration)

    for refused in (
        lambda unit: queries.get(unit, integration.id),
        lambda unit: queries.get(unit, integration.id, lock=True),
        lambda unit: service.pause(unit, integration.id),
        lambda unit: service.resume(unit, office.intake.ports, integration.id),
        lambda unit: service.remove(unit, office.intake.ports, integration.id),
        lambda unit: queries.get_booking(unit, booking),
        lambda unit: service.replay(unit, event),
        lambda _: office.post(integration, CREATED["calcom"]),
        lambda _: office.intake.find("calcom", f"removed:{integration.id}"),
    ):
        with pytest.raises(NotFound):
            async with office.unit() as unit:
                await refused(unit)

    assert await INTEGRATIONS.only(office.services, "status", "secret", "received") == ("removed", b"", 1)


async def test_an_event_that_was_on_its_way_to_a_removed_integration_is_not_stored(office: Office) -> None:
    integration = await office.connect("calcom")
    found = await office.intake.find("calcom", integration.address)
    await remove(office, integration)

    with pytest.raises(NotFound):
        await office.intake.receive(found, calcom.sign(CREATED["calcom"], office.clock.now(), SECRET))

    assert await INTEGRATION_EVENTS.count(office.services) == 0


async def test_the_waiting_events_and_texts_of_a_removed_integration_are_neither_applied_nor_sent(
    office: Office,
) -> None:
    integration = await office.connect("calcom")
    await office.post(integration, CREATED["calcom"])
    await office.applier.run()
    await office.post(integration, calcom.event("BOOKING_CANCELLED", VISIT))
    await remove(office, integration)

    for hours in (0, 48, 71, 90):
        office.clock.instant = START + timedelta(hours=hours)
        assert not await office.texts.due()
        await office.work()
        await office.texts.run()

    assert await office.bodies() == []
    assert await BOOKINGS.only(office.services, "status") == "booked"
    assert set(await BOOKING_TEXTS.read(office.services, "status")) == {"waiting"}


async def test_a_text_that_a_worker_has_claimed_is_not_sent_after_its_integration_was_removed(office: Office) -> None:
    integration = await office.connect("calcom")
    await office.post(integration, CREATED["calcom"])
    await office.applier.run()

    async with locked(office.services.database.pool, ACCOUNTS, "FOR NO KEY UPDATE"):
        sending = asyncio.create_task(office.texts.run())
        await until_blocked(office.services.database.pool)
        await remove(office, integration)
    await within("the end of the batch", sending)

    assert await office.bodies() == []
    assert await BOOKING_TEXTS.where(kind="confirmation").only(office.services, "message_id") is None


async def test_the_rows_of_a_removed_integration_are_deleted_in_batches_by_workers_that_may_die(office: Office) -> None:
    kept, removed = await office.connect("calcom"), await office.connect("calcom")
    pool = office.services.database.pool
    for each in (kept, removed):
        await add_bookings(pool, each.id, 2500, START)
    await remove(office, removed)
    dying = open_leftovers(office.services)

    for left in (4000, 3000):
        assert await dying.run()
        assert await counts(office) == [left, 5000, left]
    await asyncio.gather(*(empty(office) for _ in range(2)))
    await empty(office)

    assert await counts(office) == [2500, 2500, 2500]
    assert await INTEGRATIONS.read(office.services, "id", "status") == [(kept.id, "active")]
    assert not await dying.due()


async def test_rows_that_others_have_locked_are_deleted_later(office: Office) -> None:
    integration, job = await office.connect("calcom"), open_leftovers(office.services)
    await office.post(integration, CREATED["calcom"])
    await office.work()
    await remove(office, integration)

    async with locked(office.services.database.pool, INTEGRATION_EVENTS):
        assert [await job.run(), await job.run()] == [True, False]
        assert [await job.due(), *await counts(office)] == [True, 0, 1, 0]
    assert [await job.run(), await job.run(), await job.run()] == [True, True, False]

    assert [*await counts(office), await INTEGRATIONS.count(office.services)] == [0, 0, 0, 0]
    assert not await job.due()


async def test_a_custom_field_that_only_a_removed_webhook_sets_is_not_in_use(office: Office) -> None:
    async with office.unit() as unit:
        field = await custom_fields.create(unit, custom_fields.NewField("plan", "Plan"))
        actions: service.Actions = {"paths": {"phone": "phone"}, "custom_fields": {"plan": "plan"}}
        webhook, _ = await service.add_webhook(unit, office.intake.ports, "Shop", actions)
        assert await field_uses.find(unit, field) == [f"the integration Shop (id {webhook.id})"]

    await remove(office, webhook)

    async with office.unit() as unit:
        assert await field_uses.find(unit, field) == []


def test_the_leftovers_are_of_all_tables_that_are_deleted_with_an_integration() -> None:
    parents = {
        table.name
        for table in METADATA.tables.values()
        for key in table.foreign_keys
        if key.target_fullname == "integrations.id" and key.ondelete == "CASCADE"
    }

    assert {table.name for table in (*crm.LEFT, *account_tables.LEFT)} == parents


@pytest.mark.parametrize("table", [*crm.LEFT, *account_tables.LEFT], ids=lambda table: table.name)
async def test_each_batch_begins_where_the_one_before_it_ended(office: Office, table: leftovers.LeftoverTable) -> None:
    after = 1 if table.order == "id" else "a"

    found = await plan_when_new(
        office.services.database.pool, Rows(table.name), table.delete(first=False), 1, after, settings=[NO_SORTS]
    )

    assert f"integration_id = '1'::bigint) AND ({table.order} > " in found

"""Messages and events on both sides of the boundary of two partitions."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError

from app.bootstrap import open_dispatcher, open_partitions
from app.db.engine import Pool
from app.domain.erasure import service as erasure
from app.domain.erasure.accounts import AGAIN_AFTER
from app.domain.erasure.export import read_records
from app.domain.kernel.errors import Unavailable
from app.domain.kernel.paging import Window
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import queries
from app.domain.messages.queries import MessageFilter
from app.domain.messages.receipts import application
from app.domain.messages.recording import RECORD_SENT
from app.domain.messages.sending.acceptance import Acceptance
from app.domain.onboarding.service import Opened
from app.http.errors import translate
from app.services import Services
from tests.conftest import copy_database
from tests.domain.erasure.deletions import ask, deletions, run_out
from tests.factories.billing import balance_of
from tests.factories.contacts import id_of_contact
from tests.factories.events import EVENTS, OUTBOX
from tests.factories.histories import continue_after, places
from tests.factories.messages import CARRIER_IDS, MESSAGES, OUTGOING, RECEIPTS
from tests.factories.plans import count_custom_plans
from tests.factories.planting import plant

Send = Callable[..., Awaitable[Acceptance]]

TO, OTHER = "+12025550143", "+12025550144"
LAST = 9_999_999
"""The last id of the first partition."""


@pytest.fixture(scope="session")
def database_url(servers: None, worker_number: int) -> str:
    """Return the URL of a database for this module alone, as ids go on where a test ended."""
    return asyncio.run(copy_database(f"divided_{worker_number}_{os.getpid()}"))


@pytest.fixture(autouse=True)
async def begun(services: Services, account: Opened) -> None:
    """Have the next message and the next event be the last ones of the first partition."""
    await continue_after(services, LAST - 1)


async def test_texts_are_handed_over_and_reported_on_both_sides(
    services: Services, send: Send, work: Callable[[], Awaitable[None]], pool: Pool
) -> None:
    accepted = await asyncio.gather(*(send(f"+1202555014{number}") for number in range(4)))
    await work()

    ids = [LAST, LAST + 1, LAST + 2, LAST + 3]
    assert sorted(each.message_id for each in accepted) == ids
    assert await places(pool, "messages") == [
        ("messages_from_0", LAST),
        *(("messages_from_10000000", id) for id in ids[1:]),
    ]
    assert await MESSAGES.read(pool, "status") == ["delivered"] * 4
    assert {*await RECEIPTS.where(status="delivered").read(pool, "message_id")} == {*ids}
    assert await OUTGOING.count(pool) == 0


async def test_answers_and_receipts_are_recorded_by_plans_that_are_kept(
    services: Services, send: Send, work: Callable[[], Awaitable[None]], pool: Pool
) -> None:
    for count in (1, 2, 3):
        await asyncio.gather(*(send(f"+1202555014{number}") for number in range(count)))
        await work()

    for statement in (RECORD_SENT, application.FIND, application.WRITE):
        custom, prepared = await count_custom_plans(pool, statement, services.settings.database_pool)
        assert (custom, prepared > 0) == (0, True)


async def test_events_are_dispatched_in_order_on_both_sides(services: Services, send: Send, pool: Pool) -> None:
    await send()
    recorded = await places(pool, "events")
    while await open_dispatcher(services).run():
        pass

    assert recorded[:2] == [("events_from_0", LAST), ("events_from_10000000", LAST + 1)]
    assert await OUTBOX.count(pool) == 0


async def test_pages_go_on_over_the_boundary_in_both_directions(send: Send, unit: UnitOfWork) -> None:
    for number in range(5):
        await send(body=f"{number}")

    first = await queries.find_page(unit, MessageFilter(), Window(2))
    second = await queries.find_page(unit, MessageFilter(), Window(2, first.end_cursor))
    third = await queries.find_page(unit, MessageFilter(), Window(2, second.end_cursor))
    back = await queries.find_page(unit, MessageFilter(), Window(last=2, before=third.start_cursor))

    shown = [[each.body for each in page.nodes] for page in (first, second, third, back)]
    assert shown == [["4", "3"], ["2", "1"], ["0"], ["2", "1"]]
    assert [(await page.total()).count for page in (first, third)] == [5, 5]


async def test_an_export_has_the_rows_of_each_partition_once(send: Send, account: Opened, pool: Pool) -> None:
    for number in range(4):
        await send(body=f"{number}")

    found: dict[str, list[Any]] = {"messages": [], "events": []}
    async for table, records in read_records(pool, account.account_id):
        if table in found:
            found[table] += [record["id"] for record in records]

    assert found["messages"] == [LAST, LAST + 1, LAST + 2, LAST + 3]
    assert found["events"] == await EVENTS.read(pool, "id")


async def test_an_erasure_of_a_contact_deletes_its_messages_in_each_partition_and_those_of_others_in_none(
    send: Send, work: Callable[[], Awaitable[None]], act: Callable[..., Any], pool: Pool
) -> None:
    for phone in (TO, OTHER, TO, OTHER):
        await send(phone)
    await work()

    async with act() as unit:
        await erasure.erase(unit, await id_of_contact(pool, TO))

    kept = [LAST + 1, LAST + 3]
    assert await MESSAGES.read(pool, "id") == kept
    assert {*await RECEIPTS.read(pool, "message_id")} == {*kept}
    assert sorted(await CARRIER_IDS.read(pool, "message_id")) == kept


async def test_a_deleted_account_takes_no_row_of_others_that_has_the_same_place_in_another_partition(
    services: Services, account: Opened, new_account: Callable[..., Any], pool: Pool
) -> None:
    other: Opened = await new_account(company_name="Red Door")
    mine, theirs = [await plant(pool, each.account_id, "Wombat") for each in (account, other)]
    assert (mine["messages"], theirs["messages"]) == (LAST, LAST + 1)

    await ask(services, account.account_id)
    await run_out(deletions(services))
    await run_out(deletions(services, seconds=AGAIN_AFTER.total_seconds() + 1))

    assert await MESSAGES.read(pool, "id") == [theirs["messages"]]
    assert await EVENTS.where(account_id=other.account_id).read(pool, "id") == [theirs["events"]]
    assert await EVENTS.where(account_id=account.account_id).count(pool) == 0


async def test_without_a_partition_no_text_is_accepted_or_debited_until_the_upkeep_has_made_one(
    services: Services, send: Send, text: Callable[..., Awaitable[None]], account: Opened, pool: Pool
) -> None:
    before = await balance_of(pool, account.account_id)
    await continue_after(pool, 90_000_000)

    with pytest.raises(Unavailable):
        await send()
    with pytest.raises(IntegrityError) as refused:
        await text("Hello")
    left = await MESSAGES.count(pool), await OUTGOING.count(pool), await balance_of(pool, account.account_id)
    await open_partitions(services).run()
    accepted = await send()

    assert (type(translate(refused.value)), left) == (Unavailable, (0, 0, before))
    assert await MESSAGES.read(pool, "id") == [accepted.message_id]

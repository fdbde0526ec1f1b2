"""One transaction on behalf of one actor."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.pool import QueuePool

from app.domain.accounts.queries import get_own
from app.domain.contacts.events import ANN, AT, ContactDndChanged, ContactTagAdded
from app.domain.events import outbox
from app.domain.kernel.unit_of_work import Actor, UnitOfWork, open_unit
from app.domain.numbers.models import PhoneNumber
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.events import EVENTS, OUTBOX
from tests.factories.numbers import PHONE_NUMBERS
from tests.waiting import until, within

DND = ContactDndChanged(**ANN, dnd_sms=True, changed_at=AT)


class Topics(list[str]):
    """The notified topics, in order."""

    @asynccontextmanager
    async def unit(self, services: Services, account: Opened) -> AsyncGenerator[UnitOfWork]:
        """Open a unit that rings here."""
        actor = Actor(account.account_id, frozenset(), "test", "request-7")
        async with open_unit(services.database.sessions, actor, services.clock, self.append) as unit:
            yield unit


@pytest.fixture
def topics() -> Topics:
    return Topics()


async def test_a_unit_commits_its_rows_and_events(services: Services, account: Opened, topics: Topics) -> None:
    async with topics.unit(services, account) as unit:
        await unit.save(_number(account))
        outbox.record(unit, DND, contact_id=4821)

        assert await _counts(services) == (1, 0)

    assert await _counts(services) == (2, 1)


async def test_a_unit_that_fails_stores_no_row_and_sends_no_notification(
    services: Services, account: Opened, topics: Topics
) -> None:
    async def fail() -> None:
        async with topics.unit(services, account) as unit:
            await unit.save(_number(account))
            outbox.record(unit, DND)
            unit.notify("messages")
            raise InterruptedError

    with pytest.raises(InterruptedError):
        await fail()

    assert (await _counts(services), topics) == ((1, 0), [])


async def test_a_unit_that_is_cancelled_stores_no_row_and_sends_no_notification(
    services: Services, account: Opened, topics: Topics
) -> None:
    reached = asyncio.Event()

    async def wait() -> None:
        async with topics.unit(services, account) as unit:
            await unit.save(_number(account))
            unit.notify("messages")
            reached.set()
            await unit.execute(text("SELECT pg_sleep(60)"))

    waiting = asyncio.create_task(wait())
    await within("the unit to reach its last statement", reached.wait())
    waiting.cancel()
    await within("waiting to end", asyncio.wait([waiting]))

    assert (waiting.cancelled(), await _counts(services), topics) == (True, (1, 0), [])


async def test_a_unit_rings_once_it_is_committed_and_not_before(
    services: Services, account: Opened, topics: Topics
) -> None:
    async with topics.unit(services, account) as unit:
        unit.notify("messages")
        unit.notify("messages")
        outbox.record(unit, DND)

        assert topics == []

    assert sorted(topics) == ["events", "messages"]


async def test_a_commit_that_fails_sends_no_notification(services: Services, account: Opened, topics: Topics) -> None:
    async def fail() -> None:
        async with topics.unit(services, account) as unit:
            unit.session.add(PhoneNumber(account_id=0, phone_number="", label="", carrier=""))
            unit.notify("messages")

    with pytest.raises(IntegrityError):
        await fail()

    assert (await _counts(services), topics) == ((1, 0), [])


async def test_a_unit_without_statements_opens_no_session(services: Services, account: Opened, topics: Topics) -> None:
    async with topics.unit(services, account) as unit:
        pass

    assert unit._session is None


async def test_changes_of_one_account_that_wait_for_a_lock_leave_a_connection_for_others(
    services: Services, account: Opened, topics: Topics, new_account: Callable[..., Any]
) -> None:
    other, pool, connections = await new_account(), services.database.engine.pool, services.settings.database_pool
    assert isinstance(pool, QueuePool)
    async with topics.unit(services, account) as holder:
        await get_own(holder, lock=True)

        async def change() -> None:
            async with topics.unit(services, account) as unit:
                await get_own(unit, lock=True)

        changes = [asyncio.create_task(change()) for _ in range(connections * 2)]
        await until(lambda: pool.checkedout() >= connections - 1)
        async with topics.unit(services, other) as unit:
            found = await within("a connection for the other account", get_own(unit, lock=True))

        assert found.id == other.account_id
        assert not any(each.done() for each in changes)
    await within("the changes", asyncio.gather(*changes))


async def test_statements_of_one_unit_that_run_side_by_side_take_turns(
    services: Services, account: Opened, topics: Topics
) -> None:
    async with topics.unit(services, account) as unit:
        answers = await asyncio.gather(
            unit.all(select(func.generate_series(1, 2))),
            unit.one(select(func.count()).select_from(PhoneNumber)),
            unit.rows(select(PhoneNumber.id, PhoneNumber.label)),
            unit.save(_number(account)),
            unit.execute(text("SELECT pg_sleep(0)")),
            unit.one(select(PhoneNumber.label).where(PhoneNumber.label == "Second")),
        )

    assert answers[:3] == [[1, 2], 1, [(account.phone_number_id, "Sandbox")]]
    assert answers[5] == "Second"


async def test_a_deleted_row_is_gone(services: Services, account: Opened, topics: Topics) -> None:
    async with topics.unit(services, account) as unit:
        number = await unit.one(select(PhoneNumber))
        await unit.delete(number)

        assert await unit.one(select(PhoneNumber)) is None


async def test_events_stand_in_the_order_in_which_they_were_told(
    services: Services, account: Opened, topics: Topics
) -> None:
    tags = [f"tag {number}" for number in range(300)]
    async with topics.unit(services, account) as unit:
        for tag in tags[:150]:
            outbox.record(unit, ContactTagAdded(**ANN, tag=tag, all_tags=[], added_at=AT))
        await unit.save(_number(account))
        for tag in tags[150:]:
            outbox.record(unit, ContactTagAdded(**ANN, tag=tag, all_tags=[], added_at=AT))

    assert [payload["tag"] for payload in await EVENTS.read(services, "payload")] == tags


async def test_an_event_records_its_account_contact_and_request(
    services: Services, account: Opened, topics: Topics
) -> None:
    async with topics.unit(services, account) as unit:
        outbox.record(unit, DND, contact_id=4821)

    row = await EVENTS.only(services)
    assert (row["account_id"], row["contact_id"], row["request_id"]) == (account.account_id, 4821, "request-7")
    assert (row["name"], row["payload"]) == ("contact_dnd_changed", {**ANN, "dnd_sms": True, "changed_at": AT})
    assert await OUTBOX.only(services) == (account.account_id, row["id"])


def _number(account: Opened) -> PhoneNumber:
    return PhoneNumber(account_id=account.account_id, phone_number="+15009999999", label="Second", carrier="sandbox")


async def _counts(services: Services) -> tuple[int, int]:
    """Return how many numbers and events are committed."""
    pool = services.database.pool
    return await PHONE_NUMBERS.count(pool), await EVENTS.count(pool)

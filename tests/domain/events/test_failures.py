"""Reactions that fail for single events: tried again apart from the others, then set aside."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from app.domain.events import set_aside
from app.domain.events.dispatcher import Dispatcher
from app.domain.events.erasure import empty, hold_dispatch
from app.domain.events.failures import WAITS, Retries
from app.domain.events.reactions import Batch, Reaction
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.factories.accounts import ACCOUNTS
from tests.factories.clocks import Moving
from tests.factories.events import FAILED_REACTIONS, OUTBOX, record
from tests.factories.tables import Rows
from tests.waiting import until

MARKS = Rows("audit_entries")


@dataclass
class Reacting:
    """A dispatcher whose reactions write down the names of events; one of them fails for events of some names."""

    services: Services
    clock: Moving = field(default_factory=Moving)
    bad: set[str] = field(default_factory=set)
    runs: int = 0
    reported: list[str] = field(default_factory=list)
    notified: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        reactions = Reaction("early", self.mark), Reaction("fragile", self.fail), Reaction("late", self.mark)
        of = self.services.database, self.clock, self.notified.append
        self.dispatcher = Dispatcher(*of, reactions)
        self.retries = Retries(*of, reactions)

    async def mark(self, batch: Batch) -> None:
        for event in batch.events:
            await MARKS.insert(batch.connection, account_id=event.account_id, action=event.name, actor="", subject="")

    async def fail(self, batch: Batch) -> None:
        self.runs += 1
        await self.mark(batch)
        if found := [event for event in batch.events if event.name in self.bad]:
            raise LookupError(f"{found[0].name} is bad")
        batch.notify("fragile")

    async def marks(self) -> dict[str, int]:
        """Return how many reactions were done for the events of each name."""
        names = await MARKS.where(actor="").read(self.services, "action")
        return {name: names.count(name) for name in sorted(set(names))}


@pytest.fixture
async def reacting(services: Services) -> Reacting:
    """Give reactions whose failures are kept."""
    reacting = Reacting(services)
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reacting.reported.append(context["message"]))
    return reacting


async def tell(services: Services, account: Opened, *names: str) -> list[int]:
    return [await record(services, account.account_id, name, 1) for name in names]


async def test_a_reaction_that_fails_for_an_event_is_done_for_all_others(
    reacting: Reacting, services: Services, account: Opened
):
    names = [f"event {number:03}" for number in range(100)]
    ids = await tell(services, account, *names)
    reacting.bad = {names[10], names[70]}

    await reacting.dispatcher.run()

    assert await reacting.marks() == {name: 2 if name in reacting.bad else 3 for name in names}
    assert await OUTBOX.count(services) == 0
    failed = await FAILED_REACTIONS.read(services, "account_id", "event_id", "reaction", "attempts", "error")
    assert failed == [
        (account.account_id, ids[place], "fragile", 1, f"LookupError('{names[place]} is bad')") for place in (10, 70)
    ]
    assert reacting.reported == [f"reaction fragile failed for 2 events, first for {ids[10]}, and is tried again later"]
    assert reacting.runs < 40


async def test_a_failed_reaction_is_tried_again_when_it_is_due(reacting: Reacting, services: Services, account: Opened):
    await tell(services, account, "good", "bad")
    reacting.bad = {"bad"}
    await reacting.dispatcher.run()
    before = [await reacting.retries.due(), await reacting.retries.run()]
    reacting.clock.move(seconds=WAITS[0].total_seconds())
    reacting.bad.clear()
    reacting.notified.clear()

    again = [await reacting.retries.due(), await reacting.retries.run(), await reacting.retries.run()]

    assert (before, again) == ([False, False], [True, True, False])
    assert await reacting.marks() == {"bad": 3, "good": 3}
    assert await FAILED_REACTIONS.count(services) == 0
    assert reacting.notified == ["fragile"]


async def test_a_reaction_that_fails_again_and_again_is_set_aside_until_people_have_it_tried_again(
    reacting: Reacting, services: Services, account: Opened
):
    pool = services.database.pool
    [id] = await tell(services, account, "bad")
    reacting.bad = {"bad"}
    await reacting.dispatcher.run()
    for wait in WAITS:
        reacting.clock.move(seconds=wait.total_seconds())
        assert await reacting.retries.run()
    counted = await set_aside.count_failures(pool)
    [listed] = await set_aside.list_failures(pool, 10)
    reacting.clock.move(days=1)
    idle = await reacting.retries.due()

    missed = await set_aside.retry(pool, id + 1, reacting.clock.now())
    tried = await set_aside.retry(pool, id, reacting.clock.now())
    reacting.bad.clear()
    await reacting.retries.run()

    assert (counted, idle, missed, tried) == ({"waiting": 0, "set_aside": 1}, False, 0, 1)
    assert (listed.event_id, listed.event, listed.reaction, listed.attempts) == (id, "bad", "fragile", len(WAITS) + 1)
    assert (listed.error, listed.next_attempt_at) == ("LookupError('bad is bad')", None)
    assert reacting.reported[-1] == f"reaction fragile failed for 1 events, first for {id}, and was set aside"
    assert (await reacting.marks(), await FAILED_REACTIONS.count(services)) == ({"bad": 3}, 0)


async def test_a_reaction_that_the_service_has_no_more_is_kept_for_people(
    reacting: Reacting, services: Services, account: Opened
):
    await tell(services, account, "bad")
    reacting.bad = {"bad"}
    await reacting.dispatcher.run()
    reacting.clock.move(seconds=1)

    await replace(reacting.retries, reactions=()).run()

    kept = await FAILED_REACTIONS.only(services, "attempts", "error")
    assert tuple(kept) == (2, "LookupError('There is no reaction fragile.')")


async def test_a_locked_row_holds_up_the_events_of_its_account_only(
    reacting: Reacting, services: Services, account: Opened, new_account: Callable[..., Any]
):
    async def rename(batch: Batch) -> None:
        for event in batch.events:
            await ACCOUNTS.where(id=event.account_id).change(batch.connection, company_name=event.name)

    others: list[Opened] = [await new_account() for _ in range(3)]
    for each in (account, *others):
        await tell(services, each, "first", "second")
    dispatcher = replace(reacting.dispatcher, reactions=[Reaction("rename", rename)])
    async with services.database.pool.acquire() as connection, connection.transaction():
        await ACCOUNTS.where(id=others[0].account_id).lock(connection, "FOR UPDATE")

        async def is_one_account_left() -> bool:
            await dispatcher.run()
            return set(await OUTBOX.read(services, "account_id")) == {others[0].account_id}

        await until(is_one_account_left)
    await until(lambda: "events" in reacting.notified)

    async def is_none_left() -> bool:
        await dispatcher.run()
        return await OUTBOX.count(services) == 0

    await until(is_none_left)

    assert await ACCOUNTS.read(services, "company_name") == ["second"] * 4
    assert (await OUTBOX.count(services), await FAILED_REACTIONS.count(services)) == (0, 0)


async def test_a_retry_waits_for_an_account_that_an_erasure_holds(
    reacting: Reacting, services: Services, account: Opened
):
    await tell(services, account, "bad")
    reacting.bad = {"bad"}
    await reacting.dispatcher.run()
    reacting.clock.move(seconds=1)
    reacting.bad.clear()

    async with unit_of(services, Actor(account.account_id, frozenset())) as unit:
        await hold_dispatch(unit)
        meanwhile = await reacting.retries.run()

    assert (meanwhile, await reacting.retries.run()) == (False, True)


async def test_an_erasure_deletes_failed_reactions_that_await_a_retry(
    reacting: Reacting, services: Services, account: Opened
):
    await tell(services, account, "bad")
    reacting.bad = {"bad"}
    await reacting.dispatcher.run()

    async with unit_of(services, Actor(account.account_id, frozenset())) as unit:
        await empty(unit, 1)

    assert await FAILED_REACTIONS.count(services) == 0

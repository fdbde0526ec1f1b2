"""Operations take turns: no account keeps the others waiting, and large answers are made in small parts."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest
from graphql import OperationType
from sqlalchemy.pool import QueuePool

from app.domain.accounts.scopes import ALL
from app.domain.kernel.errors import Unavailable
from app.domain.kernel.unit_of_work import Actor, open_unit
from app.domain.onboarding.service import Opened
from app.domain.payments.gateway import Card
from app.domain.payments.settlement import keep_customer
from app.graphql.execution.documents import prepare
from app.graphql.execution.execute import Executor, Run
from app.graphql.execution.plans import PART
from app.graphql.execution.turns import (
    ASKING_RUNNING,
    ASKING_SHARE,
    LARGE_RUNNING,
    LARGE_SHARE,
    LARGE_UNITS,
    NEW_SHARE,
    SMALL_RUNNING,
    SMALL_SHARE,
    UPDATES_RUNNING,
    UPDATES_SHARE,
    Turns,
)
from app.main import rest_operations
from app.services import Services
from tests.factories.contacts import add_contacts
from tests.factories.payments import Till
from tests.waiting import PATIENCE_SECONDS, until, within

QUERY, MUTATION, SUBSCRIPTION = OperationType.QUERY, OperationType.MUTATION, OperationType.SUBSCRIPTION
GREEDY, OTHER = 101, 102
LARGE = "{ contacts(first: 100) { nodes { id phone tags consents { kind } } total_count } }"

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(("units", "places"), [(1, SMALL_RUNNING), (LARGE_UNITS, LARGE_RUNNING)])
async def test_concurrent_queries_are_limited_and_mutations_do_not_wait_for_them(units: int, places: int) -> None:
    turns = Turns(patience=0.01)
    async with AsyncExitStack() as stack:
        for account_id in range(places):
            await stack.enter_async_context(turns.take(QUERY, units, account_id))

        with pytest.raises(Unavailable):
            await stack.enter_async_context(turns.take(QUERY, units, OTHER))
        await stack.enter_async_context(turns.take(MUTATION, units, OTHER))


@pytest.mark.parametrize("units", [1, LARGE_UNITS])
async def test_queries_that_wait_for_another_service_hold_no_place_of_the_others(units: int) -> None:
    turns = Turns(patience=0.01)
    async with AsyncExitStack() as stack:
        for account_id in range(ASKING_RUNNING):
            await stack.enter_async_context(turns.take(QUERY, units, account_id, asks_others=True))

        with pytest.raises(Unavailable):
            await stack.enter_async_context(turns.take(QUERY, units, OTHER, asks_others=True))
        await stack.enter_async_context(turns.take(QUERY, units, OTHER))


@pytest.mark.parametrize(
    ("kind", "units", "share"),
    [(QUERY, 1, SMALL_SHARE), (QUERY, LARGE_UNITS, LARGE_SHARE), (SUBSCRIPTION, 1, UPDATES_SHARE)],
)
async def test_the_operations_of_one_account_leave_a_place_for_another_account(
    kind: OperationType, units: int, share: int
) -> None:
    turns = Turns()
    async with AsyncExitStack() as stack:
        for _ in range(share):
            await stack.enter_async_context(turns.take(kind, units, GREEDY))
        waiting = asyncio.create_task(stack.enter_async_context(turns.take(kind, units, GREEDY)))

        await within("a place", stack.enter_async_context(turns.take(kind, units, OTHER)))

        assert not waiting.done()
        waiting.cancel()
        await within("the end of what waits", asyncio.wait([waiting]))


@pytest.mark.parametrize("kind", [QUERY, MUTATION])
async def test_an_account_starts_few_operations_at_once(kind: OperationType) -> None:
    turns = Turns(new_seconds=PATIENCE_SECONDS)
    async with AsyncExitStack() as stack:
        for _ in range(NEW_SHARE - 1):
            await stack.enter_async_context(turns.take(kind, 1, GREEDY))
        async with turns.take(kind, 1, GREEDY):
            waiting = asyncio.create_task(stack.enter_async_context(turns.take(kind, 1, GREEDY)))

            await within("a place", stack.enter_async_context(turns.take(kind, 1, OTHER)))

            assert not waiting.done()
        await within("the place of the operation that ended", waiting)


async def test_an_operation_that_runs_for_longer_lets_the_next_one_start() -> None:
    turns = Turns(new_seconds=0.01)
    async with AsyncExitStack() as stack:
        for _ in range(2 * NEW_SHARE):
            await within("a place", stack.enter_async_context(turns.take(MUTATION, 1, GREEDY)))
    assert not turns._new._held


async def test_updates_of_streams_wait_without_an_end() -> None:
    turns = Turns(patience=0.01)
    async with AsyncExitStack() as stack:
        for account_id in range(UPDATES_RUNNING):
            await stack.enter_async_context(turns.take(SUBSCRIPTION, 1, account_id))
        waiting = asyncio.create_task(stack.enter_async_context(turns.take(SUBSCRIPTION, 1, OTHER)))
        await asyncio.sleep(0.05)

        assert not waiting.done()
        waiting.cancel()
        await within("the end of what waits", asyncio.wait([waiting]))


async def test_a_large_operation_pauses_while_a_small_one_runs() -> None:
    turns = Turns()
    async with turns.take(QUERY, LARGE_UNITS, GREEDY) as pause, turns.take(QUERY, 1, OTHER) as none:
        assert none is None
        assert pause
        await pause()
        begun = asyncio.get_running_loop().time()
        await asyncio.sleep(0.002)  # the slice is used up
        await pause()

        assert asyncio.get_running_loop().time() - begun >= 0.005


async def test_one_pause_ends_at_a_time() -> None:
    turns, ended = Turns(), list[int]()

    async def compute(number: int) -> None:
        await turns.pause()
        ended.append(number)
        await asyncio.sleep(0)

    async with asyncio.TaskGroup() as tasks:
        for number in range(3):
            tasks.create_task(compute(number))
        await until(lambda: ended, every=0)
        assert ended == [0]

    assert ended == [0, 1, 2]


class Counting(Turns):
    """Turns that count the pauses."""

    pauses = 0

    async def pause(self) -> None:
        self.pauses += 1
        await super().pause()


@pytest.fixture
async def actor(services: Services, account: Opened) -> Actor:
    """Give who may do anything in an account with a hundred contacts."""
    await add_contacts(services, account.account_id, [f"+1202555{number:04d}" for number in range(100)])
    return Actor(account.account_id, ALL, "key:1")


async def test_a_large_answer_is_made_with_pauses_and_is_the_same(services: Services, actor: Actor) -> None:
    turns, prepared = Counting(), prepare(LARGE)
    assert prepared.units >= LARGE_UNITS

    paused, _ = await Executor(services, _turns=turns).run(Run(prepared, {}, actor))
    whole, _ = await Executor(services).run(Run(replace(prepared, units=1), {}, actor))

    assert paused == whole
    assert paused.errors is None
    assert len((paused.data or {})["contacts"]["nodes"]) == 100
    assert turns.pauses >= 100 // PART


async def test_a_large_answer_of_a_plan_is_made_with_pauses(services: Services, actor: Actor) -> None:
    turns = Counting()
    listing = next(each for each in rest_operations() if each.name == "list_contacts")

    answer = await Executor(services, _turns=turns)(listing, {"limit": 100}, actor)

    assert [each["phone"] for each in answer.value["nodes"]] == [f"+1202555{n:04d}" for n in reversed(range(100))]
    assert turns.pauses >= 100 // PART


class Hanging(Till):
    """A payment provider that answers after `answers` is set."""

    def __init__(self) -> None:
        self.asked, self.answers = 0, asyncio.Event()

    async def find_card(self, customer: str) -> Card | None:
        self.asked += 1
        await within("the answer", self.answers.wait())
        return await super().find_card(customer)


async def test_other_queries_are_answered_while_some_wait_for_the_payment_provider(
    services: Services, actor: Actor
) -> None:
    provider, patience = Hanging(), 2 * PATIENCE_SECONDS
    services = replace(services, payments=replace(services.payments, gateway=provider))
    executor = Executor(services, _turns=Turns(patience))
    async with open_unit(services.database.sessions, actor, services.clock, services.notify) as unit:
        await keep_customer(unit, provider.name, "customer")
    method = Run(prepare("{ payment_method { brand } }"), {}, actor)

    async with asyncio.TaskGroup() as tasks:
        asking = [tasks.create_task(executor.run(method)) for _ in range(SMALL_SHARE)]
        await until(lambda: provider.asked == ASKING_SHARE)
        found, _ = await within("the other query", executor.run(Run(prepare("{ balance { balance } }"), {}, actor)))
        provider.answers.set()

    assert found.errors is None
    assert [done.result()[0].data for done in asking] == [{"payment_method": {"brand": "visa"}}] * SMALL_SHARE


@pytest.mark.parametrize(
    ("asks", "query"),
    [
        (True, "{ payment_method { brand } }"),
        (True, '{ carrier_lookup(phone: "+12025550143") { carrier } }'),
        (True, "{ carrier_connection_check(id: 1) { connection { id } } }"),
        (True, "query { balance { balance } ...Paid } fragment Paid on Query { payment_method { brand } }"),
        (False, "{ billing_status { how_to } }"),
    ],
)
def test_a_query_asks_another_service_if_one_of_its_fields_does(asks: bool, query: str) -> None:
    prepared = prepare(query)

    assert prepared.errors == ()
    assert prepared.asks_others is asks


async def test_a_query_that_waits_for_its_turn_holds_no_connection_and_is_then_refused(
    services: Services, actor: Actor
) -> None:
    turns = Turns(patience=2 * PATIENCE_SECONDS)
    executor, pool = Executor(services, _turns=turns), services.database.engine.pool
    assert isinstance(pool, QueuePool)
    held = pool.checkedout()
    async with AsyncExitStack() as stack:
        for account_id in range(LARGE_RUNNING):
            await stack.enter_async_context(turns.take(QUERY, LARGE_UNITS, -account_id))
        waiting = asyncio.create_task(executor.run(Run(prepare(LARGE), {}, actor)))
        await until(lambda: turns._large._waiting)

        assert not waiting.done()
        assert pool.checkedout() == held
        waiting.cancel()
        await within("the end of what waits", asyncio.wait([waiting]))
        turns._large._patience = 0.01
        with pytest.raises(Unavailable):
            await executor.run(Run(prepare(LARGE), {}, actor))

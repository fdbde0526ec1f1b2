"""Operations take turns: no account keeps the others waiting, and large answers are made in small parts."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest
from graphql import OperationType
from sqlalchemy.pool import QueuePool

from app.domain.accounts.scopes import ALL
from app.domain.kernel.errors import Unavailable
from app.domain.kernel.unit_of_work import Actor
from app.domain.onboarding.service import Opened
from app.graphql.execution.documents import prepare
from app.graphql.execution.execute import Executor
from app.graphql.execution.turns import LARGE_RUNNING, LARGE_UNITS, SMALL_RUNNING, Queue, Turns
from app.main import rest_operations
from app.services import Services
from tests.factories.contacts import add_contacts
from tests.waiting import until, within

QUERY, MUTATION = OperationType.QUERY, OperationType.MUTATION
GREEDY, OTHER = 1, 2
LARGE = "{ contacts(first: 100) { nodes { id phone tags consents { kind } } total_count } }"

pytestmark = pytest.mark.anyio


async def settle() -> None:
    """Let every task that can go on do so."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_accounts_that_wait_begin_in_turns() -> None:
    queue, begun = Queue(1, 60), list[str]()

    async def run(name: str, account_id: int) -> None:
        async with queue.place(account_id):
            begun.append(name)

    async with asyncio.TaskGroup() as tasks, queue.place(GREEDY):
        for name in ("first", "second", "third"):
            tasks.create_task(run(name, GREEDY))
        await settle()
        tasks.create_task(run("other", OTHER))
        await settle()
        assert begun == []

    assert begun == ["first", "other", "second", "third"]


async def test_what_waits_for_too_long_is_refused_and_its_place_kept_for_no_one() -> None:
    queue = Queue(1, 0.01)
    async with queue.place(GREEDY):
        with pytest.raises(Unavailable):
            await within("a place", queue.place(OTHER).__aenter__())

    async with asyncio.timeout(5), queue.place(OTHER):
        pass


async def test_a_turn_that_comes_as_its_client_leaves_goes_to_the_next() -> None:
    queue, begun = Queue(1, 60), list[str]()

    async def run(name: str) -> None:
        async with queue.place(GREEDY):
            begun.append(name)

    async with queue.place(GREEDY):
        leaving, staying = asyncio.create_task(run("leaving")), asyncio.create_task(run("staying"))
        await settle()
    leaving.cancel()
    await within("the next", staying)

    assert begun == ["staying"]
    assert leaving.cancelled()


@pytest.mark.parametrize(("units", "places"), [(1, SMALL_RUNNING), (LARGE_UNITS, LARGE_RUNNING)])
async def test_only_so_many_queries_run_at_once_and_what_changes_something_never_waits(units: int, places: int) -> None:
    turns = Turns(patience=0.01)
    async with AsyncExitStack() as stack:
        for _ in range(places):
            await stack.enter_async_context(turns.take(QUERY, units, GREEDY))

        with pytest.raises(Unavailable):
            await stack.enter_async_context(turns.take(QUERY, units, OTHER))
        await stack.enter_async_context(turns.take(MUTATION, units, OTHER))


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

    paused, _ = await Executor(services, _turns=turns).run(prepared, {}, actor)
    whole, _ = await Executor(services).run(replace(prepared, units=1), {}, actor)

    assert paused == whole
    assert paused.errors is None
    assert len((paused.data or {})["contacts"]["nodes"]) == 100
    assert turns.pauses >= 100


async def test_a_large_answer_of_a_plan_is_made_with_pauses(services: Services, actor: Actor) -> None:
    turns = Counting()
    listing = next(each for each in rest_operations() if each.name == "list_contacts")

    answer = await Executor(services, _turns=turns)(listing, {"limit": 100}, actor)

    assert [each["phone"] for each in answer.value["nodes"]] == [f"+1202555{n:04d}" for n in reversed(range(100))]
    assert turns.pauses >= 100


async def test_a_query_that_waits_for_its_turn_holds_no_connection_and_is_then_refused(
    services: Services, actor: Actor
) -> None:
    turns = Turns(patience=0.2)
    executor, pool = Executor(services, _turns=turns), services.database.engine.pool
    assert isinstance(pool, QueuePool)
    held = pool.checkedout()
    async with AsyncExitStack() as stack:
        for _ in range(LARGE_RUNNING):
            await stack.enter_async_context(turns.take(QUERY, LARGE_UNITS, GREEDY))
        waiting = asyncio.create_task(executor.run(prepare(LARGE), {}, actor))
        await asyncio.sleep(0.1)

        assert not waiting.done()
        assert pool.checkedout() == held
        with pytest.raises(Unavailable):
            await waiting

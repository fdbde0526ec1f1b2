"""Slots are lent in turns: no account holds all of them, and a timed-out wait holds none."""

import asyncio

import pytest

from app.fair_queue import FairQueue
from tests.waiting import within

GREEDY, OTHER = 1, 2

pytestmark = pytest.mark.anyio


async def settle() -> None:
    """Run every task that is ready."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_accounts_that_wait_begin_in_turns() -> None:
    queue, begun = FairQueue(1, 1, None), list[str]()

    async def run(name: str, account_id: int) -> None:
        await queue.take(account_id)
        begun.append(name)
        queue.leave(account_id)

    await queue.take(GREEDY)
    async with asyncio.TaskGroup() as tasks:
        for name in ("first", "second", "third"):
            tasks.create_task(run(name, GREEDY))
        await settle()
        tasks.create_task(run("other", OTHER))
        await settle()
        assert begun == []
        queue.leave(GREEDY)

    assert begun == ["first", "other", "second", "third"]


async def test_an_account_that_holds_its_share_waits_though_places_are_free() -> None:
    queue = FairQueue(3, 2, None)
    await queue.take(GREEDY)
    await queue.take(GREEDY)
    third = asyncio.create_task(queue.take(GREEDY))
    await settle()

    await within("a free place", queue.take(OTHER))
    assert not third.done()
    queue.leave(OTHER)
    await settle()
    assert not third.done()
    queue.leave(GREEDY)

    await within("a place of its own share", third)


async def test_a_caller_that_waits_too_long_is_refused_and_its_place_is_freed() -> None:
    queue = FairQueue(1, 1, 0.01)
    await queue.take(GREEDY)
    with pytest.raises(TimeoutError):
        await queue.take(OTHER)

    queue.leave(GREEDY)

    await within("the place", queue.take(OTHER))


async def test_a_turn_that_comes_as_its_client_leaves_goes_to_the_next() -> None:
    queue = FairQueue(1, 1, None)
    await queue.take(GREEDY)
    leaving, staying = asyncio.create_task(queue.take(GREEDY)), asyncio.create_task(queue.take(GREEDY))
    await settle()

    queue.leave(GREEDY)
    leaving.cancel()

    await within("the next", staying)
    assert leaving.cancelled()

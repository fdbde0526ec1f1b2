"""Doing together what arrives together, when a batch fails."""

import asyncio
from collections.abc import Sequence
from operator import itemgetter

import pytest

from app.domain.kernel.micro_batcher import MicroBatcher
from tests.waiting import until, within


async def test_the_accounts_whose_items_wait_get_places_in_a_batch_in_turns() -> None:
    batches = list[list[str]]()

    async def serve(items: Sequence[str]) -> Sequence[str]:
        batches.append(list(items))
        await asyncio.sleep(0)
        return items

    together = MicroBatcher(serve, 3, account=itemgetter(0))
    waiting = ["a1", "a2", "a3", "a4", "a5", "b1", "b2", "c1"]
    await within("all to be served", asyncio.gather(*map(together, waiting)))

    assert batches == [["a1", "b1", "c1"], ["a2", "b2", "a3"], ["a4", "a5"]]


async def test_a_failed_batch_raises_in_its_waiting_callers_and_the_next_is_served() -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def serve(items: Sequence[str]) -> Sequence[str]:
        if "bad" not in items:
            return [item.upper() for item in items]
        begun.set()
        await within("the test to let it go on", go.wait())
        raise ValueError("a bad batch")

    together = MicroBatcher(serve, 10)
    gone, left = (asyncio.create_task(together(item)) for item in ("bad", "left"))
    await within("both to begin", begun.wait())
    gone.cancel()
    go.set()

    with pytest.raises(ValueError, match="a bad batch"):
        await left
    assert await together("next") == "NEXT"
    assert gone.cancelled()


async def test_callers_that_are_answered_before_their_batch_ends_go_on_at_once() -> None:
    answered, end = asyncio.Event(), asyncio.Event()

    async def serve(items: Sequence[str]) -> Sequence[str]:
        together.answer([item.upper() for item in items])
        answered.set()
        await within("the test to let it end", end.wait())
        raise ValueError("after the answers")

    together = MicroBatcher(serve, 10)
    gone, left = (asyncio.create_task(together(item)) for item in ("gone", "left"))
    await asyncio.sleep(0)
    gone.cancel()
    await within("the answers", answered.wait())

    assert await within("the answer", left) == "LEFT"
    assert (gone.cancelled(), together.load) == (True, 1)
    end.set()
    await together.close()
    assert await left == "LEFT"


class Finishing:
    """Serves batches that proceed when they begin, and end when the test lets them."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.ends: list[asyncio.Event] = []
        self.together = MicroBatcher(self._serve, 1)

    async def _serve(self, items: Sequence[str]) -> Sequence[str]:
        end = asyncio.Event()
        self.batches.append(list(items))
        self.ends.append(end)
        self.together.proceed()
        await within("the test to let it end", end.wait())
        return items

    async def has_begun(self, batches: int) -> None:
        async def count() -> bool:
            return len(self.batches) >= batches

        await until(count)


async def test_a_batch_that_is_being_finished_lets_the_next_one_begin() -> None:
    finishing = Finishing()

    first, second = (asyncio.create_task(finishing.together(item)) for item in "ab")
    await finishing.has_begun(2)
    finishing.ends[1].set()

    assert (await second, first.done()) == ("b", False)
    assert finishing.together.load == 1
    finishing.ends[0].set()
    assert await first == "a"


async def test_no_more_than_two_batches_are_being_finished_beside_the_next() -> None:
    finishing = Finishing()

    tasks = [asyncio.create_task(finishing.together(item)) for item in "abcd"]
    await finishing.has_begun(3)
    for _ in range(10):
        await asyncio.sleep(0)

    assert finishing.batches == [["a"], ["b"], ["c"]]
    finishing.ends[2].set()
    await finishing.has_begun(4)
    for end in finishing.ends:
        end.set()
    assert await asyncio.gather(*tasks) == ["a", "b", "c", "d"]


async def test_closing_and_flushing_wait_for_batches_that_are_being_finished() -> None:
    finishing = Finishing()
    tasks = [asyncio.create_task(finishing.together(item)) for item in "ab"]
    await finishing.has_begun(2)

    waits = [asyncio.create_task(wait) for wait in (finishing.together.flush(), finishing.together.close())]
    finishing.ends[1].set()
    await tasks[1]
    await asyncio.sleep(0)
    were_done = [wait.done() for wait in waits]
    finishing.ends[0].set()
    await within("both to end", asyncio.gather(*waits))

    assert were_done == [False, False]
    assert tasks[0].done()

"""Doing together what arrives together, when a batch fails."""

import asyncio
from collections.abc import Sequence
from operator import itemgetter

import pytest

from app.domain.kernel.micro_batcher import MicroBatcher
from tests.waiting import within


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

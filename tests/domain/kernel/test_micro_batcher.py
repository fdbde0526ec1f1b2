"""Doing together what arrives together, when a batch fails."""

import asyncio
from collections.abc import Sequence

import pytest

from app.domain.kernel.micro_batcher import MicroBatcher
from tests.waiting import within


async def test_a_batch_that_fails_is_told_to_those_who_still_wait_and_the_next_is_served() -> None:
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

"""Lets other tasks of the event loop go on during long work."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

T = TypeVar("T")

TURN_SECONDS = 0.001


async def in_turns(items: Iterable[T]) -> AsyncIterator[T]:
    """Yield items; each time that the work on them has taken `TURN_SECONDS`, other tasks go on first."""
    began = time.perf_counter()
    for item in items:
        yield item
        if time.perf_counter() - began > TURN_SECONDS:
            await asyncio.sleep(0)
            began = time.perf_counter()

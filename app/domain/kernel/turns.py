"""Lets other tasks go on during long work: those of the event loop, and those of other accounts in the database."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import TypeVar
from weakref import WeakValueDictionary

from app.domain.kernel.unit_of_work import UnitOfWork

T = TypeVar("T")

TURN_SECONDS = 0.001

_reading = WeakValueDictionary[tuple[str, int], asyncio.Lock]()
"""The locks of the expensive reads of this process, by their kind and account."""


async def in_turns(items: Iterable[T]) -> AsyncIterator[T]:
    """Yield items; each time that the work on them has taken `TURN_SECONDS`, other tasks go on first."""
    began = time.perf_counter()
    for item in items:
        yield item
        if time.perf_counter() - began > TURN_SECONDS:
            await asyncio.sleep(0)
            began = time.perf_counter()


@asynccontextmanager
async def one_at_a_time(unit: UnitOfWork, kind: str) -> AsyncGenerator[None]:
    """Let the expensive reads of a kind and account wait for one another, so that many do not hold up other accounts.

    A unit that waits has given its connection back. One that has written keeps it, and does not wait.
    """
    if unit.has_written:
        yield
        return
    await unit.pause()
    async with _reading.setdefault((kind, unit.actor.account_id), asyncio.Lock()):
        yield

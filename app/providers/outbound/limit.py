"""Time limits of requests."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial

LOOK_SECONDS = 0.05


class Limit:
    """Calls `expire` after the time limit of a peer, unless cancelled.

    The event loop first gets `LOOK_SECONDS` to read received data: when this process was blocked, the timer fires
    before data that arrived in time is read.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float, expire: Callable[[], object]) -> None:
        self._loop = loop
        self._expire = expire
        self._timer = self._loop.call_later(seconds, self._look)

    def cancel(self) -> None:
        """Cancel the limit."""
        self._timer.cancel()

    def _look(self) -> None:
        self._timer = self._loop.call_later(LOOK_SECONDS, self._expire)


@asynccontextmanager
async def limited(seconds: float) -> AsyncGenerator[None]:
    """Raise `TimeoutError` when a block waits for a peer for too long."""
    async with asyncio.timeout(None) as timeout:
        limit = Limit(asyncio.get_running_loop(), seconds, partial(timeout.reschedule, 0))
        try:
            yield
        finally:
            limit.cancel()

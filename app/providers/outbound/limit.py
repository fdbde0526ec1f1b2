"""Time limits of exchanges."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import partial

LOOK_SECONDS = 0.05


class Limit:
    """Calls `expire` when a peer has had its seconds, unless it is cancelled.

    Before it does, the loop gets one more look at what has come. On a busy machine it is often this process that was
    held up: what the peer did in time then lies unread, and the timer rings before it is taken up.
    """

    def __init__(self, seconds: float, expire: Callable[[], object]) -> None:
        self._loop = asyncio.get_running_loop()
        self._expire = expire
        self._timer = self._loop.call_later(seconds, self._look)

    def cancel(self) -> None:
        """Let the peer take as long as it likes."""
        self._timer.cancel()

    def _look(self) -> None:
        self._timer = self._loop.call_later(LOOK_SECONDS, self._expire)


@asynccontextmanager
async def limited(seconds: float) -> AsyncGenerator[None]:
    """Raise `TimeoutError` where a block waits for a peer for too long."""
    async with asyncio.timeout(None) as timeout:
        limit = Limit(seconds, partial(timeout.reschedule, 0))
        try:
            yield
        finally:
            limit.cancel()

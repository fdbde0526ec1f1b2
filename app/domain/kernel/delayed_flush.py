"""Flushes of counts that a process keeps in memory for a few seconds."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(slots=True)
class DelayedFlush:
    """Calls `flush` some seconds after the first `plan`, so that many counts are written at once."""

    flush: Callable[[], Awaitable[None]]
    seconds: float
    _timer: asyncio.TimerHandle | None = None
    _flushing: asyncio.Future[None] | None = None

    def plan(self) -> None:
        """Plan a flush, unless one is planned already."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self.seconds, self._start)

    async def close(self) -> None:
        """Flush what is left, and start no further work."""
        if self._timer:
            self._timer.cancel()
        if self._flushing:
            await self._flushing
        await self.flush()

    def _start(self) -> None:
        self._timer = None
        self._flushing = asyncio.ensure_future(self.flush())

"""Flushes of counts that a process keeps in memory for a few seconds."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class DelayedFlush:
    """Calls `flush` some seconds after the first `plan`, so that many counts are written at once.

    What a flush raises goes to the exception handler of the loop, and ends neither a later flush nor `close`.
    """

    flush: Callable[[], Awaitable[None]]
    seconds: float
    _timer: asyncio.TimerHandle | None = None
    _flushing: set[asyncio.Task[None]] = field(default_factory=set)

    def plan(self) -> None:
        """Plan a flush, unless one is planned already."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self.seconds, self._start)

    async def close(self) -> None:
        """Flush what is left, and start no further work."""
        if self._timer:
            self._timer.cancel()
        await asyncio.gather(*self._flushing)
        await self._flush()

    def _start(self) -> None:
        self._timer = None
        task = asyncio.create_task(self._flush())
        self._flushing.add(task)
        task.add_done_callback(self._flushing.discard)

    async def _flush(self) -> None:
        try:
            await self.flush()
        except Exception as error:
            context = {"message": "a flush of counts failed", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)

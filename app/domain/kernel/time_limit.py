"""Limits the time of many awaited calls with one timer."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


class TimeLimit:
    """Cancels calls that take longer than `seconds`. A timer for each call would cost more than most calls."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._deadlines: dict[asyncio.Timeout, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    async def run(self, call: Awaitable[T]) -> T:
        """Return the result of a call; raise `TimeoutError` when it took too long."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(None) as limit:
            self._deadlines[limit] = loop.time() + self.seconds
            if self._timer is None:
                self._timer = loop.call_at(self._deadlines[limit], self._expire)
            try:
                return await call
            finally:
                self._deadlines.pop(limit, None)

    def _expire(self) -> None:
        """End the calls whose time is over, and wait for the next: they began in the order of their deadlines."""
        loop = asyncio.get_running_loop()
        self._timer = None
        for limit, deadline in list(self._deadlines.items()):
            if deadline > loop.time():
                self._timer = loop.call_at(deadline, self._expire)
                return
            del self._deadlines[limit]
            limit.reschedule(0)

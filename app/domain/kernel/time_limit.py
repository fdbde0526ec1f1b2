"""Limits the time of many awaited calls with one timer."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class _Call:
    """A call in progress: its task, and how many cancellations of that were asked for before."""

    task: asyncio.Task[Any]
    cancelling: int


class TimeLimit:
    """Cancels calls that take longer than `seconds`. A timer for each call would cost more than most calls."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._deadlines: dict[_Call, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    async def run(self, call: Awaitable[T]) -> T:
        """Return the result of a call; raise `TimeoutError` when it took too long, as `asyncio.timeout` does."""
        loop, task = asyncio.get_running_loop(), cast("asyncio.Task[Any]", asyncio.current_task())
        limited = _Call(task, task.cancelling())
        deadline = self._deadlines[limited] = loop.time() + self.seconds
        if self._timer is None:
            self._timer = loop.call_at(deadline, self._expire)
        try:
            result = await call
        except BaseException as error:
            if self._is_over(limited) and isinstance(error, asyncio.CancelledError):
                raise TimeoutError from error
            raise
        self._is_over(limited)
        return result

    def _is_over(self, call: _Call) -> bool:
        """End a call; return whether its time alone has canceled it."""
        if self._deadlines.pop(call, None) is not None:
            return False
        return call.task.uncancel() <= call.cancelling

    def _expire(self) -> None:
        """Cancel the calls whose time is over, and wait for the next: they began in the order of their deadlines."""
        loop = asyncio.get_running_loop()
        self._timer = None
        for call, deadline in list(self._deadlines.items()):
            if deadline > loop.time():
                self._timer = loop.call_at(deadline, self._expire)
                return
            del self._deadlines[call]
            call.task.cancel()

"""Turns of operations, so that one account cannot hold up the others in a web process.

A process has one event loop: what computes for long keeps every other request waiting. Few queries run at once, those
of different accounts in turns, and large operations pause after each millisecond, for longer while small ones run.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager, nullcontext
from time import perf_counter
from typing import Any

from graphql import GraphQLObjectType, OperationType, get_named_type
from graphql.execution import Executor

from app.domain.kernel.errors import Unavailable
from app.graphql.core.context import Pause

LARGE_UNITS = 5
"""From how many units of the limit of requests on an operation is large."""

SMALL_RUNNING, LARGE_RUNNING = 8, 2
"""How many small and large queries run at once: more would only wait for the database, or for the processor."""

PATIENCE_SECONDS = 10.0
"""How long a query waits for its turn at most."""

SLICE_SECONDS = 0.001
PAUSE_SECONDS = 0.005
POLL_SECONDS = 0.0005
"""How long large operations compute without a pause, and how long they pause at most while small ones run."""


class Queue:
    """So many operations at once; those that wait begin account by account, one of each in turns."""

    def __init__(self, places: int, patience: float) -> None:
        self._free = places
        self._patience = patience
        self._waiting: dict[int, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def place(self, account_id: int) -> AsyncGenerator[None]:
        """Wait for a place and keep it; raise `Unavailable` where that takes too long."""
        if self._free:
            self._free -= 1
        else:
            await self._wait(account_id)
        try:
            yield
        finally:
            self._leave()

    async def _wait(self, account_id: int) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(account_id, deque()).append(turn)
        try:
            async with asyncio.timeout(self._patience):
                await self._take(turn)
        except TimeoutError:
            raise Unavailable() from None

    async def _take(self, turn: asyncio.Future[None]) -> None:
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # the turn came in the same moment
                self._leave()
            raise

    def _leave(self) -> None:
        """Give the place to the account that has waited for longest, or keep it free."""
        while self._waiting:
            account_id, turns = next(iter(self._waiting.items()))
            turn = turns.popleft()
            del self._waiting[account_id]
            if turns:
                self._waiting[account_id] = turns
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1


class Turns:
    """Schedules operations, and the pauses of large ones."""

    def __init__(self, patience: float = PATIENCE_SECONDS) -> None:
        self._large = Queue(LARGE_RUNNING, patience)
        self._small = Queue(SMALL_RUNNING, patience)
        self._running = 0
        self._paused: deque[asyncio.Future[None]] = deque()
        self._pauses_at = 0.0

    @asynccontextmanager
    async def take(self, kind: OperationType | None, units: int, account_id: int) -> AsyncGenerator[Pause | None]:
        """Wait for the turn of an operation and keep it; give what a large one pauses with. Raises `Unavailable`.

        Only queries wait: what changes something may wait for others itself, and must not keep their places.
        """
        is_large = units >= LARGE_UNITS
        queue = self._large if is_large else self._small
        async with queue.place(account_id) if kind is OperationType.QUERY else nullcontext():
            if is_large:
                yield self.pause
            else:
                with self._count_running():
                    yield None

    @contextmanager
    def _count_running(self) -> Generator[None]:
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1

    async def pause(self) -> None:
        """Let others go on, where large operations have computed for `SLICE_SECONDS`."""
        if perf_counter() < self._pauses_at:
            return
        loop = asyncio.get_running_loop()
        end = loop.create_future()
        self._paused.append(end)
        if len(self._paused) == 1:
            loop.call_soon(self._go_on, loop)
        await end

    def _go_on(self, loop: asyncio.AbstractEventLoop) -> None:
        """End one pause, the only one of this iteration of the loop."""
        if self._running and perf_counter() < self._pauses_at + PAUSE_SECONDS:
            loop.call_later(POLL_SECONDS, self._go_on, loop)
            return
        while self._paused:
            end = self._paused.popleft()
            if not end.done():
                end.set_result(None)
                self._pauses_at = perf_counter() + SLICE_SECONDS
                break
        if self._paused:
            loop.call_soon(self._go_on, loop)


class PausingExecutor(Executor[Any]):
    """Runs documents of clients as graphql-core does, with pauses between the items of lists."""

    def complete_list_value(
        self, return_type: Any, field_details_list: Any, info: Any, path: Any, result: Any, position_context: Any
    ) -> Any:
        """Complete a list of objects item by item."""
        if isinstance(result, list) and len(result) > 1 and isinstance(get_named_type(return_type), GraphQLObjectType):
            result = _unhurried(result, self.context_value.pause)
        return super().complete_list_value(return_type, field_details_list, info, path, result, position_context)

    async def complete_awaitable_value(
        self, return_type: Any, field_details_list: Any, info: Any, path: Any, result: Any, position_context: Any
    ) -> Any:
        """Complete a value once it is there."""
        later = _later(result, self.context_value.pause)
        return await super().complete_awaitable_value(
            return_type, field_details_list, info, path, later, position_context
        )


async def _unhurried(items: Iterable[Any], pause: Pause) -> AsyncGenerator[Any]:
    for item in items:
        await pause()
        yield item


async def _later(value: Awaitable[Any], pause: Pause) -> Any:
    found = await value
    await pause()
    return found

"""Turns of operations, so that one account cannot delay the others in a web process.

A process has one event loop: a long computation keeps every other request waiting. Few queries and updates of live
streams run at once, those of different accounts in turns, and large operations pause after each millisecond, for longer
while small ones run.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, Awaitable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from time import perf_counter
from typing import Any

from graphql import GraphQLList, GraphQLOutputType, GraphQLResolveInfo, OperationType, get_named_type, is_composite_type
from graphql.execution import Executor
from graphql.execution.collect_fields import FieldDetailsList
from graphql.pyutils import AwaitableOrValue, Path

from app.domain.kernel.errors import Unavailable
from app.fair_queue import FairQueue
from app.graphql.core.loading import Pause

LARGE_UNITS = 5
"""The number of units of the limit of requests from which an operation is large."""

SMALL_RUNNING, LARGE_RUNNING, UPDATES_RUNNING = 8, 3, 3
"""Number of small queries, large queries and updates of live streams that run at once: more would only wait for the
database, or for the processor."""

SMALL_SHARE, LARGE_SHARE, UPDATES_SHARE = 6, 2, 2
"""The maximum number of these of one account."""

ASKING_RUNNING, ASKING_SHARE = 32, 4
"""Number of queries that may wait for another service and run at once, in all and of one account: they hold no place of
the other queries."""

NEW_RUNNING, NEW_SHARE, NEW_SECONDS = 64, 2, 0.02
"""Number of new operations that run at once, in all and of one account, and how long an operation is new.

In this time most operations compute and end, and those of one account delay the others. An operation that runs for
longer mostly waits for the database.
"""

PATIENCE_SECONDS = 10.0
"""The maximum wait of a query for its turn."""

SLICE_SECONDS = 0.001
PAUSE_SECONDS = 0.005
POLL_SECONDS = 0.0005
"""Time that large operations compute without a pause, and their longest pause while small ones run."""


class Turns:
    """Schedules operations, and the pauses of large ones."""

    def __init__(self, patience: float = PATIENCE_SECONDS, new_seconds: float = NEW_SECONDS) -> None:
        self._new_seconds = new_seconds
        self._large = FairQueue(LARGE_RUNNING, LARGE_SHARE, patience)
        self._small = FairQueue(SMALL_RUNNING, SMALL_SHARE, patience)
        self._new = FairQueue(NEW_RUNNING, NEW_SHARE, patience)
        self._asking = FairQueue(ASKING_RUNNING, ASKING_SHARE, patience)
        self._updates = FairQueue(UPDATES_RUNNING, UPDATES_SHARE, None)
        self._running = 0
        self._paused: deque[asyncio.Future[None]] = deque()
        self._pauses_at = 0.0

    def take(
        self, kind: OperationType | None, units: int, account_id: int, *, asks_others: bool = False
    ) -> AbstractAsyncContextManager[Pause | None]:
        """Wait for the turn of an operation and hold it; yield the pauses of a large one. Raises `Unavailable`.

        Updates wait without an end: those that a stream has not shown yet stay in the database. A mutation waits only
        while it would be new: one may wait for another service, and would keep a place meanwhile. A query that does
        (`asks_others`) holds a place among its like. A `kind` of None is an operation that waits for no turn.
        """
        is_large = units >= LARGE_UNITS
        match kind:
            case OperationType.SUBSCRIPTION:
                return self._hold(self._updates, account_id, is_large=is_large)
            case OperationType.QUERY if asks_others:
                return self._start(self._asking, account_id, is_large=is_large)
            case OperationType.QUERY if is_large:
                return self._hold(self._large, account_id, is_large=True)
            case OperationType.QUERY:
                return self._start(self._small, account_id, is_large=False)
            case OperationType.MUTATION:
                return self._start(None, account_id, is_large=is_large)
            case None:
                return self._hold(None, account_id, is_large=True) if is_large else self

    async def __aenter__(self) -> None:
        """Count a small operation that waits for no turn."""
        self._running += 1

    async def __aexit__(self, *_: object) -> None:
        """Count its end."""
        self._running -= 1

    @asynccontextmanager
    async def _start(self, queue: FairQueue | None, account_id: int, *, is_large: bool) -> AsyncGenerator[Pause | None]:
        """Hold an operation that is new at first."""
        await _wait_in(self._new, account_id)
        new = _TimedSlot(self._new, account_id, self._new_seconds)
        try:
            async with self._hold(queue, account_id, is_large=is_large) as pause:
                yield pause
        finally:
            new.leave()

    @asynccontextmanager
    async def _hold(self, queue: FairQueue | None, account_id: int, *, is_large: bool) -> AsyncGenerator[Pause | None]:
        if queue:
            await _wait_in(queue, account_id)
        self._running += not is_large
        try:
            yield self.pause if is_large else None
        finally:
            self._running -= not is_large
            if queue:
                queue.leave(account_id)

    async def pause(self) -> None:
        """Run other tasks, if large operations have computed for `SLICE_SECONDS`."""
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


class _TimedSlot:
    """A slot of a queue that is released after `seconds`, or earlier by `leave`."""

    def __init__(self, queue: FairQueue, account_id: int, seconds: float) -> None:
        self._queue = queue
        self._account_id = account_id
        self._timer: asyncio.TimerHandle | None = asyncio.get_running_loop().call_later(seconds, self.leave)

    def leave(self) -> None:
        """Release the slot, once."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._queue.leave(self._account_id)


async def _wait_in(queue: FairQueue, account_id: int) -> None:
    try:
        await queue.take(account_id)
    except TimeoutError:
        raise Unavailable() from None


class PausingExecutor(Executor[Any]):
    """Runs documents of clients as graphql-core does, with pauses between the items of lists."""

    def complete_list_value(
        self,
        return_type: GraphQLList[GraphQLOutputType],
        field_details_list: FieldDetailsList,
        info: GraphQLResolveInfo,  # pyrefly: ignore[implicit-any-type-argument]
        path: Path,
        result: AsyncIterable[Any] | Iterable[Any],
        position_context: object,
    ) -> AwaitableOrValue[list[Any]]:
        """Complete a list of objects item by item."""
        if isinstance(result, list) and len(result) > 1 and is_composite_type(get_named_type(return_type)):
            result = _unhurried(result, self.context_value.pause)
        return super().complete_list_value(return_type, field_details_list, info, path, result, position_context)

    async def complete_awaitable_value(
        self,
        return_type: GraphQLOutputType,
        field_details_list: FieldDetailsList,
        info: GraphQLResolveInfo,  # pyrefly: ignore[implicit-any-type-argument]
        path: Path,
        result: Awaitable[Any],
        position_context: object,
    ) -> Any:
        """Complete an awaited value."""
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

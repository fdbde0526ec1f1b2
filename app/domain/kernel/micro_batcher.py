"""Batches concurrent calls while an earlier batch is in flight."""

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Generic, TypeVar, cast

T = TypeVar("T")
R = TypeVar("R")

MOST_FINISHING = 2
"""The most batches of a batcher that are being finished while the next one is served."""


def no_key(_item: object) -> Hashable:
    """Return no key, so that any items can share a batch."""
    return None


@dataclass(slots=True)
class MicroBatcher(Generic[T, R]):
    """Serves items in batches, one batch at a time; items that arrive meanwhile form the next batch.

    There is no timer, so a single item is served at once. `serve` returns a result for each item, in their order; its
    exception is raised to every caller of the batch. Items with the same `key`, unless it is None, never share a batch.
    When more items wait than a batch takes, it takes one of each `account` in turns, in their order.

    Where a batch only has to be finished, `serve` calls `proceed`, and the next one begins. Where the callers go on
    before the batch ends, `serve` calls `answer`.
    """

    serve: Callable[[Sequence[T]], Awaitable[Sequence[R]]]
    limit: int
    key: Callable[[T], Hashable] = no_key
    account: Callable[[T], Hashable] = no_key
    _queue: deque[tuple[T, asyncio.Future[R]]] = field(default_factory=deque)
    _running: asyncio.Task[None] | None = None
    _batches: dict[asyncio.Task[None], Sequence[asyncio.Future[R]]] = field(default_factory=dict)

    async def __call__(self, item: T) -> R:
        """Return the item's result after its batch is served."""
        result: asyncio.Future[R] = asyncio.get_running_loop().create_future()
        self._queue.append((item, result))
        if self._running is None or self._running.done():
            self._start()
        return await result

    @property
    def load(self) -> int:
        """Return the number of queued items, plus one for each batch in flight."""
        return len(self._queue) + len(self._batches)

    def proceed(self) -> None:
        """Begin the next batch beside the caller's, unless too many are being finished."""
        if self._running is asyncio.current_task() and len(self._batches) <= MOST_FINISHING:
            self._running = None
            if self._queue:
                self._start()

    def answer(self, results: Sequence[R]) -> None:
        """Give the callers of the batch in progress their results before it ends."""
        for waiting, result in zip(self._batches[_current_task()], results, strict=True):
            if not waiting.done():
                waiting.set_result(result)

    async def flush(self) -> None:
        """Wait until the items that have arrived so far are served."""
        waiting = [*chain(*self._batches.values()), *(result for _, result in self._queue)]
        if any(not result.done() for result in waiting):
            await asyncio.wait(waiting)

    async def close(self) -> None:
        """Wait until all items are served."""
        while self._batches:
            await asyncio.wait(self._batches)

    def _start(self) -> None:
        self._running = asyncio.create_task(self._work())
        self._batches[self._running] = ()
        self._running.add_done_callback(self._batches.pop)

    async def _work(self) -> None:
        task = _current_task()
        while self._queue and self._running is task:
            batch = self._take()
            self._batches[task] = [result for _, result in batch]
            await self._serve_batch(batch)

    async def _serve_batch(self, batch: Sequence[tuple[T, asyncio.Future[R]]]) -> None:
        try:
            results = await self.serve([item for item, _ in batch])
        except Exception as cause:
            for _, waiting in batch:
                if not waiting.done():
                    waiting.set_exception(cause)
            return
        for (_, waiting), result in zip(batch, results, strict=True):
            if not waiting.done():
                waiting.set_result(result)

    def _take(self) -> list[tuple[T, asyncio.Future[R]]]:
        if self.key is no_key and len(self._queue) <= self.limit:
            everything = list(self._queue)
            self._queue.clear()
            return everything
        batch, later = list[tuple[T, asyncio.Future[R]]](), list[tuple[T, asyncio.Future[R]]]()
        keys: set[Hashable] = set()
        if len(self._queue) > self.limit:
            self._take_turns()
        while self._queue and len(batch) < self.limit:
            waiting = self._queue.popleft()
            key = self.key(waiting[0])
            (later if key in keys else batch).append(waiting)
            if key is not None:
                keys.add(key)
        self._queue.extendleft(reversed(later))
        return batch

    def _take_turns(self) -> None:
        """Order the queue so that it has the first item of every account, then the second of every account."""
        seen = Counter[Hashable]()
        turns: dict[int, list[tuple[T, asyncio.Future[R]]]] = {}
        for waiting in self._queue:
            account = self.account(waiting[0])
            turns.setdefault(seen[account], []).append(waiting)
            seen[account] += 1
        self._queue = deque(chain.from_iterable(turns.values()))


def _current_task() -> asyncio.Task[None]:
    return cast("asyncio.Task[None]", asyncio.current_task())


async def serve_parts(
    serve: Callable[[Sequence[T]], Awaitable[Sequence[R]]], items: Sequence[T], parts: Iterable[Hashable]
) -> list[R]:
    """Serve the items of each part alone; `parts` names the part of each. Return the results in the items' order."""
    places: dict[Hashable, list[int]] = {}
    for place, part in enumerate(parts):
        places.setdefault(part, []).append(place)
    results: dict[int, R] = {}
    for chosen in places.values():
        results.update(zip(chosen, await serve([items[place] for place in chosen]), strict=True))
    return [results[place] for place in range(len(items))]

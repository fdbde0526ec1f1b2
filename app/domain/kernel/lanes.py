"""Serving alone what cannot be served together."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from typing import Generic, TypeVar

from app.domain.kernel.micro_batcher import MicroBatcher, no_key

T = TypeVar("T")
R = TypeVar("R")


class Lanes(Generic[T, R]):
    """Serves items that wait for locks, in batches, one batch at a time in each lane.

    A lane is named by what its items wait for, so that they hold up no others. At most `waiting` lanes are served at
    once, since each takes a connection. `key` and `limit` are those of `MicroBatcher`.
    """

    def __init__(
        self,
        serve: Callable[[Sequence[T]], Awaitable[Sequence[R]]],
        limit: int,
        waiting: int,
        key: Callable[[T], Hashable] = no_key,
    ) -> None:
        self._serve = serve
        self._limit = limit
        self._key = key
        self._lanes: dict[Hashable, MicroBatcher[T, R]] = {}
        self._waiting = asyncio.Semaphore(waiting)

    def __contains__(self, name: Hashable) -> bool:
        """Tell whether any item waits in a lane."""
        return name in self._lanes

    async def __call__(self, name: Hashable, item: T) -> R:
        """Return the item's result, once its lane has served it; the last to leave closes the lane."""
        lane = self._lanes.setdefault(name, MicroBatcher(self._serve_in_turn, self._limit, self._key))
        try:
            return await lane(item)
        finally:
            if not lane.load and self._lanes.get(name) is lane:
                del self._lanes[name]

    async def close(self) -> None:
        """Wait until every item that was taken is served."""
        for lane in list(self._lanes.values()):
            await lane.close()

    async def _serve_in_turn(self, items: Sequence[T]) -> Sequence[R]:
        async with self._waiting:
            return await self._serve(items)


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

"""Queues of the items that wait for locks, one queue for each account."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from functools import partial
from typing import Generic, TypeVar

from app.domain.kernel.micro_batcher import MicroBatcher, no_key

T = TypeVar("T")
R = TypeVar("R")


class AccountQueues(Generic[T, R]):
    """Serves items that wait for locks in batches, one batch at a time of each account, separately from other accounts.

    At most `waiting` queues are served concurrently, because each uses a connection. `limit` and `key` are those of
    `MicroBatcher`.
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
        self._queues: dict[int, MicroBatcher[T, R]] = {}
        self._waiting = asyncio.Semaphore(waiting)

    def __contains__(self, account_id: int) -> bool:
        """Return whether an item of the account waits."""
        return account_id in self._queues

    async def __call__(self, account_id: int, item: T) -> R:
        """Return the item's result after the queue of the account has served it."""
        if account_id not in self._queues:
            serve = partial(self._serve_in_turn, account_id)
            self._queues[account_id] = MicroBatcher(serve, self._limit, self._key)
        return await self._queues[account_id](item)

    async def close(self) -> None:
        """Wait until all items are served."""
        for queue in list(self._queues.values()):
            await queue.close()

    async def _serve_in_turn(self, account_id: int, items: Sequence[T]) -> Sequence[R]:
        """Serve a batch; the last batch of a queue removes it, even if no caller waits for the results any more."""
        try:
            async with self._waiting:
                return await self._serve(items)
        finally:
            if self._queues[account_id].load == 1:
                del self._queues[account_id]

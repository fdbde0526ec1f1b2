"""Questions to carriers about the items of a batch: a few at a time through each connection, for a bounded time."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from app.domain.carriers.carrier import Capabilities, Carrier, CarrierBusy
from app.domain.carriers.connections import OpenConnections
from app.domain.kernel.clock import Clock
from app.domain.kernel.time_limit import TimeLimit

AT_ONCE = 4
"""The number of calls of a batch that are in flight through a connection."""

MOST_FAILURES = 3
"""The number of calls in succession without an answer after which a connection rests."""

REST = timedelta(minutes=10)
"""The time for which a connection that does not answer rests, or that limits the rate without a shorter wait.

A call without an answer is made again after it, too.
"""

SHORTEST_REST = timedelta(seconds=1)

RUN_SECONDS = 30.0
"""The time after which no further call of a run begins: work that comes due meanwhile waits for its end."""

T = TypeVar("T", bound=Hashable)
R = TypeVar("R")


@dataclass(slots=True)
class _Batch(Generic[T]):
    """The calls of a batch through one connection. `failed` are the items whose call has had no answer."""

    items: Iterator[T]
    ends_at: float
    failed: list[T] = field(default_factory=list)
    failures: int = 0
    rests_for: timedelta | None = None

    @property
    def is_over(self) -> bool:
        """Return whether no further call begins."""
        return self.rests_for is not None or asyncio.get_running_loop().time() >= self.ends_at

    def note_failure(self, item: T, error: Exception) -> None:
        """Have the connection rest after a refusal of the rate, or after several failures in succession."""
        self.failed.append(item)
        self.failures += 1
        if isinstance(error, CarrierBusy):
            wait = REST if error.retry_after is None else timedelta(seconds=error.retry_after)
            self.rests_for = max(SHORTEST_REST, min(REST, wait))
        elif self.failures >= MOST_FAILURES:
            self.rests_for = REST


@dataclass(frozen=True, slots=True)
class CarrierCalls:
    """Calls of one kind; a connection that fails rests in this process, and delays no other one."""

    connections: OpenConnections
    clock: Clock
    limit: TimeLimit
    run_seconds: float = RUN_SECONDS
    _resting: dict[str, datetime] = field(default_factory=dict)

    async def find_keys(self, is_able: Callable[[Capabilities], bool]) -> list[str]:
        """Return the keys of the connections of this process that are able to answer."""
        await self.connections.refresh()
        return [each.row.key for each in self.connections.served() if is_able(each.carrier.capabilities)]

    async def find_free(self, is_able: Callable[[Capabilities], bool]) -> list[str]:
        """Return the keys as `find_keys` does, without those of connections that rest."""
        return [key for key in await self.find_keys(is_able) if not self.is_resting(key)]

    def is_resting(self, key: str) -> bool:
        """Return whether a connection rests."""
        return self.free_at(key) > self.clock.now()

    def free_at(self, key: str) -> datetime:
        """Return the time at which a connection has rested, or the present."""
        return max(self._resting.get(key, self.clock.now()), self.clock.now())

    def find_end(self) -> float:
        """Return the time of the event loop after which no further call of a run that begins now may begin."""
        return asyncio.get_running_loop().time() + self.run_seconds

    async def run(
        self,
        key: str,
        items: Sequence[T],
        ask: Callable[[Carrier, T], Awaitable[R]],
        take: Callable[[T, R], Awaitable[None]],
        ends_at: float,
    ) -> dict[T, datetime]:
        """Ask for each item until `ends_at`, and pass the answers on.

        Return the items without an answer, with the times from which they can be asked for again. An answer that is not
        understood, because of a defect of the adapter, is reported, and counts as one.
        """
        batch = _Batch(iter(items), ends_at)
        if connection := await self.connections.get(key):
            async with connection, asyncio.TaskGroup() as tasks:
                for _ in range(min(AT_ONCE, len(items))):
                    tasks.create_task(self._work(batch, connection.carrier, ask, take))
        if batch.rests_for is not None:
            self._resting[key] = self.clock.now() + batch.rests_for
        again_at = self.clock.now() + REST
        return dict.fromkeys(batch.failed, again_at) | dict.fromkeys(batch.items, self.free_at(key))

    async def _work(
        self,
        batch: _Batch[T],
        carrier: Carrier,
        ask: Callable[[Carrier, T], Awaitable[R]],
        take: Callable[[T, R], Awaitable[None]],
    ) -> None:
        """Make calls one after the other, until none is left or the batch is over."""
        while not batch.is_over and (item := next(batch.items, None)) is not None:
            try:
                answer = await self.limit.run(ask(carrier, item))
            except (ConnectionError, TimeoutError) as error:
                batch.note_failure(item, error)
            except Exception as error:
                message = f"the answer of the connection {carrier.key} was not understood"
                asyncio.get_running_loop().call_exception_handler({"message": message, "exception": error})
            else:
                batch.failures = 0
                await take(item, answer)

"""Leases subscriptions and runs one delivery worker for each."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from app.db.engine import UNREACHABLE
from app.domain.events.reactions import OutboxEvent
from app.domain.webhooks import ownership
from app.domain.webhooks.delivery_worker import DeliveryWorker, Dependencies, Shared
from app.domain.webhooks.leases import Leases
from app.domain.webhooks.records import DueReader, Recorder
from app.domain.webhooks.rows import Leased
from app.domain.webhooks.stats import AttemptCounts
from app.fair_queue import FairQueue

PER_PROCESS, PER_ACCOUNT = 400, 100
"""The POSTs in flight of a process, and those of one account: so the slow endpoints of one delay no other account."""

WORKERS = 1000
"""The webhooks that a process works for at once; an account has at most a fifth of them."""

TURN_SECONDS = 1.0
ABANDON_SECONDS = 0.5
GIVE_BACK_SECONDS = 1.0
"""The time that a stop waits for leasing in progress; a lease not released by then expires."""


@dataclass(slots=True)
class DeliveryWorkers:
    """The delivery workers of this process.

    `run` leases the subscriptions with due deliveries and starts a worker for each. It does not wait for the workers,
    so that a slow endpoint does not delay other subscriptions.
    """

    shared: Shared
    _workers: dict[DeliveryWorker, asyncio.Task[None]] = field(default_factory=dict)
    _renewing: asyncio.Task[None] | None = None
    _stopping: bool = False
    _taking: asyncio.Lock = field(default_factory=asyncio.Lock)
    _take_timeout: asyncio.Timeout | None = None

    @classmethod
    def of(cls, dependencies: Dependencies) -> "DeliveryWorkers":
        """Return delivery workers with these dependencies."""
        pool = dependencies.database.pool
        leases = Leases(pool, dependencies.clock, dependencies.notify, dependencies.schedule)
        due, counts = DueReader(pool, dependencies.clock), AttemptCounts(pool, dependencies.clock)
        places = FairQueue(PER_PROCESS, PER_ACCOUNT, None)
        return cls(Shared(dependencies, leases, due, Recorder(pool), counts, places))

    async def warm(self) -> None:
        """Prepare the connections that record results, because results not yet recorded at a crash are sent twice."""
        await self.shared.recorder.warm()

    async def due(self) -> bool:
        """Return whether an unleased subscription has deliveries due."""
        return await self.shared.leases.due()

    async def run(self) -> bool:
        """Start workers for subscriptions with due deliveries; return True when there may be more of them.

        At `WORKERS` workers, the oldest one is stopped after `TURN_SECONDS` to make room.
        """
        async with self._taking:  # `_workers` includes the subscriptions that another slot has just leased
            if self._stopping:
                return False
            free = WORKERS - len(self._workers)
            if free <= 0:
                longest = next(iter(self._workers))
                longest.stopping = longest.stopping or longest.age() >= TURN_SECONDS
                return False
            return await self._take(free)

    async def tell(self, events: Sequence[OutboxEvent]) -> None:
        """Let the workers of the accounts of events search that wait for new ones, after a dispatch of this process."""
        accounts = {event.account_id for event in events}
        for worker in self._workers:
            if worker.subscription.account_id in accounts:
                worker.tell()

    async def _take(self, limit: int) -> bool:
        try:
            async with asyncio.timeout(None) as self._take_timeout:
                taken = await self.shared.leases.take(limit, [worker.id for worker in self._workers])
                active = await self._end_orphans(taken)
        finally:
            self._take_timeout = None
        for subscription in active:
            self._start(subscription)
        return len(taken) == limit

    async def finish(self) -> None:
        """Start no more attempts and wait for those in flight; when cancelled, abandon the POSTs that take too long."""
        self._stopping = True
        for worker in self._workers:
            worker.stopping = True
            worker.tell()
        if self._take_timeout:
            self._take_timeout.reschedule(asyncio.get_running_loop().time() + GIVE_BACK_SECONDS)
        try:
            async with self._taking:  # wait until a slot that is leasing now has finished
                pass
            await self._wait()
        except asyncio.CancelledError:
            for worker in self._workers:
                worker.abandon()
            await self._wait(ABANDON_SECONDS)
            raise
        finally:
            if self._renewing:
                self._renewing.cancel()
            await self._count()

    async def _count(self) -> None:
        """Add the counts; a database that does not answer in time delays no stop."""
        with suppress(TimeoutError):
            async with asyncio.timeout(ABANDON_SECONDS):
                await self.shared.counts.close()

    async def _wait(self, seconds: float | None = None) -> None:
        while self._workers:
            _, late = await asyncio.wait(self._workers.values(), timeout=seconds)
            if late:  # pragma: no cover - a worker that ignores cancellation ends with the process
                return

    async def _end_orphans(self, taken: Sequence[Leased]) -> Sequence[Leased]:
        try:
            return await self._without_orphans(taken)
        except UNREACHABLE:
            await self.shared.leases.give_back(taken)
            raise

    async def _without_orphans(self, subscriptions: Sequence[Leased]) -> Sequence[Leased]:
        """End the subscriptions whose creator has ended; return the others."""
        if not any(each.creator_id for each in subscriptions):
            return subscriptions
        dependencies = self.shared.dependencies
        async with dependencies.database.pool.acquire() as connection:
            return await ownership.end_orphans(connection, subscriptions, dependencies.clock.now())

    def _start(self, subscription: Leased) -> None:
        worker = DeliveryWorker(self.shared, subscription, stopping=self._stopping)
        task = self._workers[worker] = asyncio.create_task(self._work(worker))
        task.add_done_callback(lambda _: self._workers.pop(worker))
        if self._renewing is None or self._renewing.done():
            self._renewing = asyncio.create_task(self._renew())

    async def _work(self, worker: DeliveryWorker) -> None:
        try:
            await worker.run()
        except Exception as error:
            context = {"message": f"deliveries of webhook {worker.id} stopped", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)

    async def _renew(self) -> None:
        """Renew the leases while there are workers; stop a worker whose lease was lost or whose creator has ended."""
        while self._workers:
            await asyncio.sleep(self.shared.dependencies.schedule.lease / 3)
            workers = list(self._workers)
            with suppress(*UNREACHABLE):
                await self._without_orphans([worker.subscription for worker in workers])
                renewed = await self.shared.leases.renew(
                    [worker.subscription for worker in workers], [worker.health.last_success_at for worker in workers]
                )
                for worker in workers:
                    worker.leased_until = renewed.get(worker.id, worker.leased_until)
                    worker.stopping = worker.stopping or worker.id not in renewed

"""The delivery engine: one process at a time works for a subscription, many subscriptions at once."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from app.db.engine import UNREACHABLE
from app.domain.webhooks import ownership
from app.domain.webhooks.delivery_worker import DeliveryWorker, Dependencies, Shared
from app.domain.webhooks.leases import Leases
from app.domain.webhooks.records import Recorder
from app.domain.webhooks.rows import Leased

PER_PROCESS, WORKERS = 200, 500
TURN_SECONDS = 1.0
ABANDON_SECONDS = 0.5
GIVE_BACK_SECONDS = 1.0
"""How long a stop waits for what is being leased; what is not given back then is free when its lease ends."""


@dataclass(slots=True)
class DeliveryWorkers:
    """Delivers what is due.

    `run` leases the subscriptions that have work due and starts a worker for each; it does not wait for them, so that
    a slow endpoint holds up nobody.
    """

    shared: Shared
    _workers: dict[DeliveryWorker, asyncio.Task[None]] = field(default_factory=dict[DeliveryWorker, asyncio.Task[None]])
    _renewing: asyncio.Task[None] | None = None
    _stopping: bool = False
    _taking: asyncio.Lock = field(default_factory=asyncio.Lock)
    _patience: asyncio.Timeout | None = None

    @classmethod
    def of(cls, dependencies: Dependencies) -> "DeliveryWorkers":
        """Return an engine that works with these means."""
        pool = dependencies.database.pool
        leases = Leases(pool, dependencies.clock, dependencies.notify, dependencies.schedule)
        return cls(Shared(dependencies, leases, Recorder(pool), asyncio.Semaphore(PER_PROCESS)))

    async def warm(self) -> None:
        """Make ready to write down what will be answered: whatever that takes longer, a kill sends more of it twice."""
        await self.shared.recorder.warm()

    async def due(self) -> bool:
        """Tell whether a subscription has work due that nobody does."""
        return await self.shared.leases.due()

    async def run(self) -> bool:
        """Start working for subscriptions that have work due; return True when there may be more of them.

        When there is no room for another, the one that was worked for longest makes some, once it has had its turn.
        """
        async with self._taking:  # what another slot has just taken is in `_workers` when this one asks
            if self._stopping:
                return False
            free = WORKERS - len(self._workers)
            if free <= 0:
                longest = next(iter(self._workers))
                longest.stopping = longest.stopping or longest.age() >= TURN_SECONDS
                return False
            return await self._take(free)

    async def _take(self, limit: int) -> bool:
        try:
            async with asyncio.timeout(None) as self._patience:
                taken = await self.shared.leases.take(limit, [worker.id for worker in self._workers])
                sound = await self._keep_sound(taken)
        finally:
            self._patience = None
        for subscription in sound:
            self._start(subscription)
        return len(taken) == limit

    async def finish(self) -> None:
        """Begin nothing more, and wait for what is under way; cancelled, abandon the posts that take too long."""
        self._stopping = True
        for worker in self._workers:
            worker.stopping = True
        if self._patience:
            self._patience.reschedule(asyncio.get_running_loop().time() + GIVE_BACK_SECONDS)
        try:
            async with self._taking:  # what a slot is leasing at this moment is released
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

    async def _wait(self, seconds: float | None = None) -> None:
        while self._workers:
            _, late = await asyncio.wait(self._workers.values(), timeout=seconds)
            if late:  # pragma: no cover - what does not end when it is abandoned is left to the end of the process
                return

    async def _keep_sound(self, taken: Sequence[Leased]) -> Sequence[Leased]:
        try:
            return await self._without_orphans(taken)
        except UNREACHABLE:
            await self.shared.leases.give_back(taken)
            raise

    async def _without_orphans(self, subscriptions: Sequence[Leased]) -> Sequence[Leased]:
        """End the subscriptions whose maker has ended; return the others."""
        if not any(each.maker_id for each in subscriptions):
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
        """Renew the leases while there are workers; a worker whose lease was lost, or whose maker has ended, stops."""
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

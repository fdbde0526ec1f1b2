"""Delivers to one subscription."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from app.db.engine import UNREACHABLE, Database
from app.domain.kernel.clock import Clock
from app.domain.kernel.sealing import Seal
from app.domain.kernel.unit_of_work import Notify
from app.domain.webhooks import payloads, signing
from app.domain.webhooks.health import Health
from app.domain.webhooks.leases import Leases
from app.domain.webhooks.models import DeliveryStatus
from app.domain.webhooks.poster import Poster, Reply
from app.domain.webhooks.records import DueReader, Held, Recorder, Result, Wanted
from app.domain.webhooks.rows import Due, Leased
from app.domain.webhooks.schedule import Schedule
from app.domain.webhooks.signing import Signer
from app.domain.webhooks.stats import AttemptCounts
from app.fair_queue import FairQueue

PER_ENDPOINT, TRUST = 8, 16
BUSY_AFTER = 8
"""The attempts after which a subscription counts as busy: its worker waits a moment for new events."""

REFILL, LOW = 64, 32
LOOK_AGAIN_SECONDS = 1.0
SEARCH_PAUSE_SECONDS = 0.1
"""The time between two searches that find fewer deliveries than they ask for, while some are held."""

EVENTS_WAIT_SECONDS = 0.1
"""The time that the worker of a busy subscription waits for new events before it releases the subscription."""

GONE, BUSY = 410, frozenset({429, 503})


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The dependencies of a delivery worker. `watch` is called with +1 when a POST begins and -1 when it ends."""

    database: Database
    clock: Clock
    notify: Notify
    poster: Poster
    seal: Seal
    schedule: Schedule
    user_agent: str
    watch: Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Shared:
    """State shared by the workers of a process; `places` limits the POSTs in flight."""

    dependencies: Dependencies
    leases: Leases
    due: DueReader
    recorder: Recorder
    counts: AttemptCounts
    places: FairQueue


class DeliveryWorker:
    """Delivers for one subscription until nothing is due.

    First attempts for one contact form one queue and are posted in order, each after the previous result is recorded.
    At most eight queues run concurrently, and one while the breaker is half open. A worker that takes over a lapsed
    lease starts with two queues and adds one after every `TRUST` attempts: deliveries in flight when a worker crashes
    are sent twice, and the cause may recur. A failed delivery leaves its queue and does not delay the next ones. The
    worker starts no attempt once `stopping` is set or `leased_until` has passed, so that the next lease holder repeats
    at most the attempts in flight.
    """

    def __init__(self, shared: Shared, subscription: Leased, *, stopping: bool) -> None:
        self.id = subscription.id
        self.subscription = subscription
        self._as_held = Held(subscription.id, subscription.lease, subscription.revision)
        self.health = Health.of(subscription)
        self.leased_until = subscription.leased_until
        self.stopping = stopping
        self._shared = shared
        self._dependencies = shared.dependencies
        self._signers: Sequence[tuple[Signer, datetime | None]] = ()
        self._queues: dict[Hashable, deque[Due]] = defaultdict(deque[Due])
        self._held: set[int] = set()
        self._active: dict[Hashable, asyncio.Task[None]] = {}
        self._search_at = 0.0
        self._dispatched = asyncio.Event()
        self._made = 0
        self._posts: set[asyncio.Task[Any]] = set()
        self._is_abandoned = False
        self._trusted = TRUST * PER_ENDPOINT if not subscription.has_lapsed else 2 * TRUST
        self._loop = asyncio.get_running_loop()
        self._begun_at = self._loop.time()

    async def run(self) -> None:
        """Deliver until nothing is due, the breaker opens or the process stops; then release the subscription.

        An unexpected exception opens the breaker too, so that the same delivery is not repeated in a loop.
        """
        try:
            self._signers = _signers(self._dependencies.seal, self.subscription)
            await self._work()
        except Exception as error:
            self.stopping = True
            if not isinstance(error, UNREACHABLE):
                self.health.trip(self._dependencies.clock.now(), self._dependencies.schedule)
            raise
        finally:
            await asyncio.gather(*self._active.values(), return_exceptions=True)
            await self._shared.leases.release(self.subscription, self.health)

    def age(self) -> float:
        """Return the seconds since the worker started."""
        return self._loop.time() - self._begun_at

    def tell(self) -> None:
        """Let the worker search at once if it waits for new events, because some were dispatched."""
        self._dispatched.set()

    def abandon(self) -> None:
        """Cancel the POSTs in flight, without counting an attempt. Results already received are recorded."""
        self._is_abandoned = True
        self._loop.call_soon(self._cancel_posts)

    def _cancel_posts(self) -> None:
        for post in self._posts:
            post.cancel()

    async def _work(self) -> None:
        while await self._refill():
            self._start_queues()
            await asyncio.wait(self._active.values(), timeout=LOOK_AGAIN_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            self._collect()

    async def _refill(self) -> bool:
        """Fetch due deliveries when few are held; return False when no work is left."""
        if self._may_start() and self._needs_search():
            await self._search()
            if not self._held and self._made >= BUSY_AFTER and await self._await_events():
                await self._search()
        return bool(self._active) or (self._may_start() and bool(self._queues))

    async def _search(self) -> None:
        self._dispatched.clear()
        found = await self._fetch()
        self._search_at = self._loop.time() + (SEARCH_PAUSE_SECONDS if len(found) < REFILL else 0)
        for delivery in found:
            self._held.add(delivery.id)
            self._queues[_queue(delivery)].append(delivery)

    async def _await_events(self) -> bool:
        """Wait a moment for new events, and return whether some were dispatched.

        To release a busy subscription and to lease it again costs more than that.
        """
        self._made = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(EVENTS_WAIT_SECONDS):
                await self._dispatched.wait()
        return self._dispatched.is_set() and self._may_start()

    def _needs_search(self) -> bool:
        """Return whether to search: no delivery is held, or fewer than `LOW` and there may be more of them."""
        return not self._held or (len(self._held) < LOW and self._loop.time() >= self._search_at)

    async def _fetch(self) -> Sequence[Due]:
        if self.health.is_half_open and self._held:
            return ()
        limit = 1 if self.health.is_half_open else REFILL
        events = payloads.names_for(self.subscription.kind, self.subscription.events)
        return await self._shared.due.find(Wanted(self._as_held, events, frozenset(self._held), limit))

    def _may_start(self) -> bool:
        now = self._dependencies.clock.now()
        return not self.stopping and now < self.leased_until and not self.health.is_open(now)

    @property
    def _limit(self) -> int:
        return 1 if self.health.is_half_open else min(PER_ENDPOINT, self._trusted // TRUST)

    def _start_queues(self) -> None:
        for queue in self._queues:
            if len(self._active) >= self._limit:
                return
            if queue not in self._active:
                self._active[queue] = asyncio.create_task(self._run_queues(queue))

    def _collect(self) -> None:
        """Drop finished queues, and held deliveries that may not start now; raise the exception of a failed queue."""
        for queue, task in list(self._active.items()):
            if task.done():
                del self._active[queue]
                if not self._queues[queue] or not self._may_start():
                    self._held.difference_update(delivery.id for delivery in self._queues.pop(queue))
                task.result()

    async def _run_queues(self, first: Hashable) -> None:
        """Post the deliveries of a queue, then those of others that wait, while no more have to be fetched."""
        queue: Hashable | None = first
        while queue is not None:
            await self._run_queue(self._queues[queue])
            queue = self._replace(queue)

    def _replace(self, queue: Hashable) -> Hashable | None:
        """Make a waiting queue active in place of a finished one; return None if `_work` must look what to do."""
        if self._queues[queue] or not self._may_start() or self._needs_search() or len(self._active) != self._limit:
            return None
        waiting = next((each for each in self._queues if each not in self._active), None)
        if waiting is not None:
            del self._queues[queue]
            self._active[waiting] = self._active.pop(queue)
        return waiting

    async def _run_queue(self, waiting: deque[Due]) -> None:
        """Post the deliveries of a queue one after the other."""
        places, account_id = self._shared.places, self.subscription.account_id
        while waiting:
            await places.take(account_id)
            try:
                if not self._may_start():
                    return
                await self._attempt(waiting[0])
                self._held.discard(waiting.popleft().id)
            finally:
                places.leave(account_id)

    async def _attempt(self, delivery: Due) -> None:
        at = self._dependencies.clock.now()
        reply = await self._post(delivery, at)
        if reply is None:
            return  # pragma: no cover - Python 3.11 does not trace a coroutine after its cancellation
        if not delivery.is_test:
            self._shared.counts.note(self.id, reply)
        if reply.status == GONE and await self._shared.leases.remove(self.subscription):
            self.stopping = True
        status, wait = self._judge(delivery, reply)
        later = None if wait is None else self._dependencies.clock.now() + wait
        result = Result(delivery.id, delivery.attempts + 1, reply, at, status, later, self._as_held)
        if not await self._shared.recorder.record(result):
            self.stopping = True
        self._trusted += 1
        self._made += 1

    async def _post(self, delivery: Due, at: datetime) -> Reply | None:
        """Return the result of a POST, or None if it was abandoned."""
        headers, task = self._headers(delivery, at), asyncio.current_task(self._loop)
        assert task
        self._posts.add(task)
        self._dependencies.watch(1)
        try:
            return await self._dependencies.poster.post(self.subscription.target_url, headers, delivery.body)
        except asyncio.CancelledError:
            if not self._is_abandoned:
                raise
            task.uncancel()
            return None
        finally:
            self._posts.discard(task)
            self._dependencies.watch(-1)

    def _judge(self, delivery: Due, reply: Reply) -> tuple[DeliveryStatus, timedelta | None]:
        now = self._dependencies.clock.now()
        if reply.is_success:
            self.health.succeed(now)
            return DeliveryStatus.delivered, None
        if delivery.is_test:
            self.health.fail_test(now, self._dependencies.schedule)
            return DeliveryStatus.failed, None
        self.health.fail(now, self._dependencies.schedule)
        retry_after = reply.retry_after if reply.status in BUSY else None
        wait = self._dependencies.schedule.wait(delivery.attempts + 1, retry_after)
        return (DeliveryStatus.failed, None) if wait is None else (DeliveryStatus.pending, wait)

    def _headers(self, delivery: Due, now: datetime) -> Mapping[str, str]:
        at = int(now.timestamp())
        live = [signer for signer, until in self._signers if until is None or until > now]
        headers = {
            "content-type": "application/json",
            "user-agent": self._dependencies.user_agent,
            "webhook-id": delivery.webhook_id,
            "webhook-timestamp": str(at),
            "webhook-signature": signing.sign(live, delivery.webhook_id, at, delivery.body),
            "webhook-event": delivery.event,
            "webhook-attempt": str(delivery.attempts + 1),
        }
        return {**headers, "webhook-test": "true"} if delivery.is_test else headers


def _queue(delivery: Due) -> Hashable:
    """Return the queue of a delivery: its contact's for a first attempt, otherwise a queue of its own."""
    if delivery.attempts == 0 and delivery.contact_id is not None:
        return delivery.contact_id
    return ("alone", delivery.id)


def _signers(seal: Seal, subscription: Leased) -> Sequence[tuple[Signer, datetime | None]]:
    """Return the signers, each with its end: of the newest secret, and of the previous one during its overlap."""
    newest = (Signer(seal.open(subscription.secret)), None)
    if subscription.old_secret is None:
        return (newest,)
    return (newest, (Signer(seal.open(subscription.old_secret)), subscription.old_secret_until))

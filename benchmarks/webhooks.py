"""Delivery of webhooks: one worker, from the table of events to a subscriber in a separate process.

The rate is compared with an aiohttp client that posts bodies signed beforehand and records nothing; the delay of single
events with its goal, and with the delay while 10,000 events wait for an endpoint that never answers.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from statistics import quantiles

import aiohttp

from app.bootstrap import open_jobs, open_services
from app.domain.accounts.scopes import ALL
from app.domain.contacts.events import ANN, AT, PipelineStageChanged
from app.domain.events import outbox
from app.domain.kernel.unit_of_work import Actor, UnitOfWork, open_unit
from app.domain.webhooks import service, signing
from app.services import Services
from app.settings import Settings
from app.worker import Worker
from benchmarks import accounts, harness
from benchmarks.figures import Bar, Comparison, Series
from benchmarks.harness import Process, Stage

EVENT = "pipeline_stage_changed"
ENDPOINTS = 25
EVENTS = 10_000
POSTING = 64
PER_SECOND, SECONDS = 50, 3
GOAL_MS = 250.0

ADD_EVENTS = """
INSERT INTO events (account_id, name, contact_id, payload)
SELECT (ARRAY(SELECT unnest($1::bigint[])))[1 + n % cardinality($1::bigint[])], $2, n % 500,
  json_build_object('contact_id', n % 500, 'first_name', 'Ann', 'last_name', 'Lee', 'phone', '+12025550143',
    'email', 'ann@example.com', 'old_stage', 'new_lead', 'new_stage', n::text, 'changed_at', '2026-11-21T09:30:00.000Z')
FROM generate_series(1, $3::int) AS n
"""
COUNT_OPEN = """
SELECT (SELECT count(*) FROM outbox)
  + (SELECT count(*) FROM webhook_deliveries d JOIN webhook_subscriptions s ON s.id = subscription_id
     WHERE d.status = 'pending' AND target_url NOT LIKE '%/dead')
"""
FIND_BODIES = """
SELECT webhook_id, body, target_url, secret FROM webhook_deliveries d
JOIN webhook_subscriptions s ON s.id = subscription_id ORDER BY d.id DESC LIMIT $1
"""


@dataclass(frozen=True, slots=True)
class Post:
    """One request of the baseline."""

    url: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(slots=True)
class Course:
    """A worker, a subscriber, and the accounts whose events the worker delivers."""

    services: Services
    subscriber: str
    client: aiohttp.ClientSession
    account_ids: Sequence[int]
    numbers: Callable[[], int] = field(default_factory=lambda: count().__next__)

    async def deliver(self) -> float:
        """Return the deliveries per second from a full table of events to the subscriber."""
        await self._settle()
        await self._ask()
        await self.services.database.pool.execute(ADD_EVENTS, self.account_ids, EVENT, EVENTS)
        begun = time.perf_counter()
        self.services.notify("events")
        while await self._count() < EVENTS:  # noqa: ASYNC110 - another process counts
            await asyncio.sleep(0.02)
        taken = time.perf_counter() - begun
        await self._settle()
        return EVENTS / taken

    async def post(self) -> float:
        """Return the posts per second of the baseline: the same bodies, signed beforehand."""
        rows = await self.services.database.pool.fetch(FIND_BODIES, EVENTS)
        left = iter([self._sign(row) for row in rows])

        async def go() -> None:
            for each in left:
                async with self.client.post(each.url, headers=each.headers, data=each.body) as answer:
                    await answer.read()

        begun = time.perf_counter()
        await asyncio.gather(*(go() for _ in range(POSTING)))
        return EVENTS / (time.perf_counter() - begun)

    async def delays(self) -> list[float]:
        """Return the times from commit to arrival of events, in ms, under light load."""
        await self._settle()
        await self._ask()
        committed: dict[str, float] = {}
        begun = time.perf_counter()
        for place in range(PER_SECOND * SECONDS):
            await asyncio.sleep(max(0.0, begun + place / PER_SECOND - time.perf_counter()))
            number = str(self.numbers())
            await self._tell(self.account_ids[0], number)
            committed[number] = time.time()
        await self._settle()
        came = await self._ask()
        return [1000 * (came[number] - at) for number, at in committed.items()]

    async def burden(self, account_id: int) -> None:
        """Subscribe an endpoint that never answers, and add 10,000 events for it."""
        await self._subscribe(account_id, "/dead")
        await self.services.database.pool.execute(ADD_EVENTS, [account_id], EVENT, EVENTS)
        self.services.notify("events")
        await self._settle()

    async def relieve(self, account_id: int) -> None:
        """Remove that endpoint, its pending deliveries and its open connections."""
        pool = self.services.database.pool
        await pool.execute("UPDATE webhook_subscriptions SET status = 'removed' WHERE account_id = $1", account_id)
        await pool.execute("DELETE FROM webhook_deliveries WHERE account_id = $1", account_id)
        async with self.client.get(f"{self.subscriber}/relieve") as answer:
            await answer.read()

    async def subscribe_all(self) -> None:
        """Subscribe one endpoint for each account."""
        for number, account_id in enumerate(self.account_ids):
            await self._subscribe(account_id, f"/{number}")

    async def _subscribe(self, account_id: int, path: str) -> None:
        async with self._unit(account_id) as unit:
            await service.subscribe(unit, self.services.webhooks, EVENT, self.subscriber + path)

    async def _tell(self, account_id: int, number: str) -> None:
        async with self._unit(account_id) as unit:
            outbox.record(
                unit, PipelineStageChanged(**ANN, old_stage="new_lead", new_stage=number, changed_at=AT), int(number)
            )

    def _unit(self, account_id: int) -> AbstractAsyncContextManager[UnitOfWork]:
        actor = Actor(account_id, ALL, "benchmark")
        return open_unit(self.services.database.sessions, actor, self.services.clock, self.services.notify)

    async def _settle(self) -> None:
        while await self.services.database.pool.fetchval(COUNT_OPEN):  # noqa: ASYNC110 - other processes do the work
            await asyncio.sleep(0.02)

    async def _count(self) -> int:
        async with self.client.get(f"{self.subscriber}/count") as answer:
            return int(await answer.text())

    async def _ask(self) -> dict[str, float]:
        async with self.client.get(self.subscriber) as answer:
            return await answer.json(content_type=None)

    def _sign(self, row: Mapping[str, bytes]) -> Post:
        at = int(time.time())
        id, secret = str(row["webhook_id"]), self.services.webhooks.seal.open(row["secret"])
        headers = {
            "content-type": "application/json",
            "webhook-id": id,
            "webhook-timestamp": str(at),
            "webhook-signature": signing.sign([signing.Signer(secret)], id, at, row["body"]),
            "webhook-event": EVENT,
            "webhook-attempt": "1",
        }
        return Post(str(row["target_url"]), headers, row["body"])


async def measure(on: Stage, rounds: int) -> list[Comparison]:
    """Measure the rate and the delay, in turns with their baselines."""
    async with on.database("webhooks") as settings:
        with harness.floor("benchmarks.subscriber", settings) as subscriber:
            async with _course(settings, subscriber) as course:
                *course.account_ids, dead = course.account_ids
                await course.subscribe_all()
                rates = [(await course.deliver(), await course.post()) for _ in range(rounds)]
                delays = [await _side_by_side(course, dead) for _ in range(rounds)]
    delivered, posted = ([pair[place] for pair in rates] for place in (0, 1))
    calm, burdened = ([pair[place] for pair in delays] for place in (0, 1))
    goal = Series("goal", [GOAL_MS] * rounds)
    return [
        Comparison("webhooks", "deliveries/s", Series("product", delivered), Series("aiohttp", posted), Bar(0.6)),
        Comparison("webhooks: commit to receipt", "ms", Series("p95", calm), goal, Bar(1, is_most=True)),
        Comparison(
            "webhooks: beside a dead endpoint",
            "ms",
            Series("p95", burdened),
            Series("without", calm),
            Bar(1.1, is_most=True),
        ),
    ]


async def _side_by_side(course: Course, dead: int) -> tuple[float, float]:
    """Return the 95th percentiles of delays without a dead endpoint, before and after, and with one."""
    before = await course.delays()
    await course.burden(dead)
    burdened = await course.delays() + await course.delays()
    await course.relieve(dead)
    return _p95(before + await course.delays()), _p95(burdened)


def _p95(values: Sequence[float]) -> float:
    return quantiles(values, n=20)[-1]


@asynccontextmanager
async def _course(settings: Settings, subscriber: Process) -> AsyncGenerator[Course]:
    opened = await accounts.open_accounts(settings, ENDPOINTS + 1)
    worker = Worker(settings.redis_url or "", partial(open_jobs, settings))
    await worker.start()
    async with open_services(settings) as services, aiohttp.ClientSession() as client:
        yield Course(services, f"http://127.0.0.1:{subscriber.port}", client, [account.id for account in opened])
    await worker.stop()

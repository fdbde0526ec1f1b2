"""Delivers events to an unreliable subscriber while workers are killed; then checks each event."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web
from pydantic import SecretStr
from redis.asyncio import Redis
from standardwebhooks import Webhook

from app.bootstrap import METADATA, open_services
from app.cli import setup
from app.db import migrate
from app.domain.accounts.scopes import ALL
from app.domain.contacts.events import ANN, AT, PipelineStageChanged
from app.domain.events import outbox
from app.domain.kernel.unit_of_work import Actor
from app.domain.webhooks import service
from app.embedded.servers import Servers
from app.services import Services
from app.settings import Settings
from tests.conftest import unit_of
from tests.domain.webhooks.receivers import Post, Receiver, receiving
from tests.e2e.processes import Process, free_port, starting
from tests.waiting import until

WORKERS, ACCOUNTS, CONTACTS = 2, 4, 20
SECRET = "a secret for storms, of 32 bytes"
PACE = {
    "MESSAGING_WEBHOOK_RETRY_SCHEDULE": ",".join(["0.3"] * 30),
    "MESSAGING_WEBHOOK_BREAKER_SECONDS": "0.3",
}
HURRY = {"MESSAGING_WEBHOOK_TIMEOUT_SECONDS": 2, "MESSAGING_WEBHOOK_LEASE_SECONDS": 2}
"""Short times for retries and leases."""
UNSETTLED = """
SELECT (SELECT count(*) FROM webhook_deliveries WHERE status = 'pending')
  + (SELECT count(*) FROM outbox)
"""


@dataclass
class Subscriber:
    """Fails one post in ten, leaves one in fifty unanswered, and counts what it has acknowledged."""

    chance: random.Random
    failing: float = 0.1
    silent: float = 0.02
    secrets: dict[str, str] = field(default_factory=dict)
    acknowledged: Counter[str] = field(default_factory=Counter)
    first_seen: dict[str, dict[int, list[int]]] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)

    async def __call__(self, post: Post) -> web.Response:
        """Verify a post; then answer, fail or leave it unanswered."""
        body = Webhook(self.secrets[post.path]).verify(post.raw, post.headers)
        if post.id not in self.seen:
            self.seen.add(post.id)
            contacts = self.first_seen.setdefault(post.path, {})
            contacts.setdefault(body["contact_id"], []).append(int(body["new_stage"]))
        mood = self.chance.random()
        if mood < self.failing + self.silent:
            await asyncio.sleep(30 if mood < self.silent else 0)
            return web.Response(status=500)
        self.acknowledged[post.id] += 1
        return web.Response()


@dataclass
class Weather:
    """A service of two workers and no web process, with a subscriber for each account."""

    services: Services
    redis: Redis
    receiver: Receiver
    subscriber: Subscriber
    accounts: list[int]
    start_worker: Callable[[], Process]
    chance: random.Random
    workers: list[Process]
    killed: int = 0
    told: int = 0

    async def tell(self, count: int, rate: float) -> None:
        """Record events of contacts of all accounts, `rate` of them a second."""
        begun, first = time.monotonic(), self.told
        for number in range(first, first + count):
            contact_id = number // ACCOUNTS % CONTACTS
            async with unit_of(self.services, Actor(self.accounts[number % ACCOUNTS], frozenset())) as unit:
                whom = ANN | {"contact_id": contact_id}
                event = PipelineStageChanged(**whom, old_stage="", new_stage=str(number), changed_at=AT)
                outbox.record(unit, event, contact_id)
            self.told += 1
            await asyncio.sleep(begun + (number - first) / rate - time.monotonic())

    async def kill(self, times: int, pause: float) -> None:
        """Kill a worker at random times, `pause` seconds apart on average, and start another at once.

        A worker is killed only while all are working, because killing an idle one proves nothing.
        """
        for _ in range(times):
            await asyncio.sleep(self.chance.uniform(0.5 * pause, 1.5 * pause))
            await until(lambda: all("worker_started" in worker.output for worker in self.workers), seconds=120)
            victim = self.workers.pop(self.chance.randrange(len(self.workers)))
            await asyncio.to_thread(victim.kill)
            self.workers.append(self.start_worker())
            self.killed += 1

    async def settle(self, seconds: float = 120) -> float:
        """Wait until every delivery is final; return the duration."""
        begun = time.monotonic()

        async def is_settled() -> bool:
            return not await self.services.database.pool.fetchval(UNSETTLED)

        await until(is_settled, seconds, every=0.02)
        return time.monotonic() - begun

    async def check(self) -> int:
        """Fail unless every event was acknowledged, and seen in order; return how many were acknowledged twice."""
        ids = {row["webhook_id"] for row in await self.services.database.pool.fetch("SELECT * FROM webhook_deliveries")}
        assert len(ids) == self.told
        assert set(self.subscriber.acknowledged) == ids
        for contacts in self.subscriber.first_seen.values():
            for numbers in contacts.values():
                assert numbers == sorted(numbers)
        statuses = await self.services.database.pool.fetch("SELECT DISTINCT status FROM webhook_deliveries")
        assert [row["status"] for row in statuses] == ["delivered"]
        return sum(times > 1 for times in self.subscriber.acknowledged.values())


@asynccontextmanager
async def weather(folder: Path, seed: int, *, calm: bool = False) -> AsyncGenerator[Weather]:
    """Start separate databases and workers, and open accounts with unreliable subscribers, unless `calm`."""
    chance = random.Random(seed)
    servers = Servers.start(folder / "databases", durable=False)
    with ExitStack() as stack:
        stack.callback(servers.stop)
        start = stack.enter_context(starting(folder))
        addresses = {"DATABASE_URL": servers.database_url, "REDIS_URL": servers.redis_url, "PORT": free_port()}
        settings = Settings(_env_file=None, environment="development", secret_key=SecretStr(SECRET), **addresses)
        await migrate.upgrade(servers.database_url, METADATA)
        env = (
            addresses
            | PACE
            | ({} if calm else HURRY)
            | {"MESSAGING_ENVIRONMENT": "development", "MESSAGING_SECRET_KEY": SECRET}
        )
        async with (
            open_services(settings) as services,
            Redis.from_url(servers.redis_url) as redis,
            receiving() as receiver,
        ):
            subscriber = receiver.respond = Subscriber(chance) if not calm else Subscriber(chance, failing=0, silent=0)
            accounts = [await _subscribe(settings, services, receiver, subscriber, each) for each in range(ACCOUNTS)]
            workers = [start("worker", **env) for _ in range(WORKERS)]
            yield Weather(
                services, redis, receiver, subscriber, accounts, lambda: start("worker", **env), chance, workers
            )


async def _subscribe(
    settings: Settings, services: Services, receiver: Receiver, subscriber: Subscriber, number: int
) -> int:
    opened = await setup.create_account(settings, f"Blue Door {number}", f"ann{number}@example.com", 1)
    async with unit_of(services, Actor(opened.account_id, ALL)) as unit:
        url = f"{receiver.url}/{number}"
        subscription = await service.subscribe(unit, services.webhooks, "pipeline_stage_changed", url)
    subscriber.secrets[f"/{number}"] = services.webhooks.seal.open(subscription.secret)
    return opened.account_id

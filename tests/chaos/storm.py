"""Sends messages while workers are killed, connections lost and Valkey flushed; then checks every message."""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from uuid import uuid4

import httpx2
from pydantic import SecretStr
from redis.asyncio import Redis

from app.bootstrap import METADATA, open_services
from app.cli import setup
from app.db import migrate
from app.db.engine import Pool
from app.embedded.servers import Servers
from app.services import Services
from app.settings import Settings
from tests.e2e.processes import Process, await_ready, free_port, starting
from tests.factories.billing import audit
from tests.waiting import until

WORKERS = 2
OWN = "storm"
"""The application name of the test's own connections."""

AT_ONCE = 16
SECRET = "a secret for storms, of 32 bytes"

SCRIPTED = ["+15005550001", "+15005550103", "+15005550202", "+15005550203", "+15005550204", "+15005550301"]
"""Numbers that refuse, fail, report in the wrong order or repeatedly, or do not answer; none is handed off twice."""

PACE = {
    "MESSAGING_HANDOFF_LEASE_SECONDS": 3,
    "MESSAGING_HANDOFF_TIMEOUT_SECONDS": 1,
    "MESSAGING_AMBIGUOUS_WAIT_SECONDS": 5,  # longer than a call takes on a busy machine
    "MESSAGING_SANDBOX_DELAY_SECONDS": 0.1,
    "MESSAGING_LOG_LEVEL": "warning",
}

UNSETTLED = "SELECT count(*) FROM messages WHERE status IN ('pending', 'sent')"
PENDING = "SELECT count(*) FROM messages WHERE status = 'pending'"
CUT = f"""
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND backend_type = 'client backend' AND application_name <> '{OWN}'
"""
REPORT_NOW = """
UPDATE sandbox_callbacks SET claimed_until = NULL
WHERE id IN (SELECT id FROM sandbox_callbacks WHERE claimed_until IS NOT NULL FOR UPDATE SKIP LOCKED)
"""
"""Avoids the minute for which a dead worker's claim of callbacks lasts."""


@dataclass
class Storm:
    """A service with two workers, and a sending account."""

    pool: Pool
    redis: Redis
    api: httpx2.AsyncClient
    start: Callable[..., Process]
    chance: random.Random
    settings: Settings
    services: Services
    account_id: int
    web: Process
    workers: list[Process] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    killed: int = 0
    cuts: int = 0
    unavailable: int = 0
    from_number: dict[str, int] = field(default_factory=dict)

    async def send(self, count: int) -> None:
        """Send messages concurrently; of those of the sandbox, one in twenty goes to a number that fails."""
        left = iter(range(count))

        async def post() -> None:
            for _ in left:
                ordinary = f"+1202555{self.chance.randrange(10_000):04d}"
                is_scripted = not self.from_number and self.chance.random() < 0.05
                to = self.chance.choice(SCRIPTED) if is_scripted else ordinary
                body = {"to": to, "message": f"Text {uuid4().hex}", "consent_attested": True, **self.from_number}
                self.ids.append(await self._post(body))

        await asyncio.gather(*(post() for _ in range(AT_ONCE)))

    async def _post(self, body: dict[str, object]) -> int:
        """Send a message as clients do: repeated with the same key while the service is unavailable."""
        key = {"Idempotency-Key": uuid4().hex}

        async def is_taken() -> int:
            answer = await self.api.post("/sms/send", json=body, headers=key)
            if answer.status_code in (409, 503):  # an earlier attempt may be in progress
                self.unavailable += 1
                return 0
            return int(answer.json()["data"]["message_id"])

        return await until(is_taken, 60, every=0.05)

    async def cut(self, times: int, pause: float) -> float:
        """End all database connections at random times, `pause` seconds apart on average; return the last time."""
        for _ in range(times):
            await asyncio.sleep(self.chance.uniform(0, 2 * pause))
            self.cuts += len(await self.pool.fetch(CUT))
        return time.monotonic()

    async def kill(self, times: int, pause: float) -> None:
        """Kill a worker at random times, `pause` seconds apart on average, and start another at once."""
        for _ in range(times):
            await asyncio.sleep(self.chance.uniform(0, 2 * pause))
            victim = self.workers.pop(self.chance.randrange(len(self.workers)))
            await asyncio.to_thread(victim.kill)
            self.workers.append(self.start("worker"))
            self.killed += 1

    async def forget(self, count: int) -> float:
        """Send messages and flush Valkey meanwhile; return the seconds until the last hand-off."""
        await self.settle(PENDING)
        await self.send(count)
        await self.redis.flushall()
        begun = time.monotonic()
        await self.settle(PENDING)
        return time.monotonic() - begun

    async def settle(self, unsettled: str = UNSETTLED, seconds: float = 180) -> None:
        """Wait until every message is settled."""

        async def is_settled() -> bool:
            return not await self.pool.fetchval(unsettled)

        await until(is_settled, seconds, every=0.05)

    async def check(self) -> None:
        """Fail unless each message was handed off once, is final, and was debited or refunded once."""
        handed = await self.pool.fetch("SELECT reference, calls FROM sandbox_messages")
        statuses = await self.pool.fetch("SELECT id, status FROM messages WHERE direction = 'outbound'")
        assert len(self.ids) == len(set(self.ids))
        assert {row["reference"]: row["calls"] for row in handed} == dict.fromkeys(self.ids, 1)
        assert {row["id"] for row in statuses} == set(self.ids)
        assert {row["status"] for row in statuses} == {"delivered", "failed"}
        await audit(self.pool)


@asynccontextmanager
async def storm(folder: Path, credits: int, seed: int, **variables: object) -> AsyncGenerator[Storm]:
    """Start separate databases, a web process and two workers, and open an account."""
    servers = Servers.start(folder / "databases", durable=False)
    with ExitStack() as stack:
        stack.callback(servers.stop)
        start = stack.enter_context(starting(folder))
        addresses = {"DATABASE_URL": servers.database_url, "REDIS_URL": servers.redis_url, "PORT": free_port()}
        settings = Settings(_env_file=None, environment="development", secret_key=SecretStr(SECRET), **addresses)
        await migrate.upgrade(servers.database_url, METADATA)
        env = addresses | PACE | variables | {"MESSAGING_ENVIRONMENT": "development", "MESSAGING_SECRET_KEY": SECRET}
        processes = [start(role, **env) for role in ("web", *["worker"] * WORKERS)]
        opened = await setup.create_account(settings, "Blue Door", "ann@example.com", credits)
        await asyncio.to_thread(await_ready, settings.public_url, *processes)
        headers = {"X-API-Key": opened.svc_key}
        own = f"{servers.database_url}&application_name={OWN}"
        async with (
            open_services(settings.model_copy(update={"database_url": own})) as services,
            Redis.from_url(servers.redis_url) as redis,
            httpx2.AsyncClient(base_url=settings.public_url, headers=headers, timeout=60) as api,
        ):
            pool = services.database.pool
            chance, start_one = random.Random(seed), partial(start, **env)
            web, *workers = processes
            yield Storm(pool, redis, api, start_one, chance, settings, services, opened.account_id, web, workers)

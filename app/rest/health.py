"""Health checks and metrics: `/healthz`, `/readyz` and `/metrics`."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Generic, TypeVar

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.db.engine import UNREACHABLE, Pool
from app.db.redis import AWAY, open_redis
from app.domain.accounts import backlog as accounts
from app.domain.campaigns import backlog as campaigns
from app.domain.carriers import alerts
from app.domain.crm import backlog as crm
from app.domain.events import backlog as events
from app.domain.events import set_aside
from app.domain.integrations import backlog as integrations
from app.domain.messages import backlog as messages
from app.domain.sequences import backlog as sequences
from app.domain.webhooks import backlog as webhooks
from app.domain.webhooks import metrics as figures
from app.http.routing import CountedRoute
from app.providers.carriers.sandbox import backlog as sandbox
from app.services import Services
from app.telemetry.metrics import CONTENT_TYPE, Source, render

T = TypeVar("T")

PATIENCE = 2.0
"""The timeout of a check, in seconds."""

REDIS_PATIENCE = 1.0
"""The timeout of the check of Redis, in seconds."""

CACHE_SECONDS = 1.0
"""The time that a result is cached."""

OLDEST = {
    **messages.OLDEST,
    **sequences.OLDEST,
    **campaigns.OLDEST,
    **integrations.OLDEST,
    **crm.OLDEST,
    **sandbox.OLDEST,
    **events.OLDEST,
    **accounts.OLDEST,
    **webhooks.OLDEST,
}
"""For each queue, the statement that returns the seconds since its oldest work was due, at `$1`."""


def routes(services: Services) -> list[Route]:
    """Return `/healthz`, `/readyz` and `/metrics`."""

    async def healthz(_: Request) -> Response:
        return _json({"status": "ok"})

    database_probe = DatabaseProbe(services.database.pool)

    async def reach() -> Sequence[bool]:
        return await asyncio.gather(database_probe(), _reach_redis(services))

    async def figure() -> bytes:
        return await render(_sources(services), os.environ.get("PROMETHEUS_MULTIPROC_DIR"))  # noqa: TID251

    reached, figures_now = Shared(reach), Shared(figure)

    async def readyz(_: Request) -> Response:
        database, redis = await reached()
        parts = {"database": "ok" if database else "unreachable", "redis": "ok" if redis else "unreachable"}
        return _json({"status": "ok" if database else "unavailable", **parts}, 200 if database else 503)

    async def metrics(_: Request) -> Response:
        return Response(await figures_now(), media_type=CONTENT_TYPE)

    return [CountedRoute(f"/{probe.__name__}", probe) for probe in (healthz, readyz, metrics)]


def _sources(services: Services) -> Sequence[Source]:
    return [*_queues(services), *_webhooks(services), _alerts(services), _partitions(services)]


def _queues(services: Services) -> Sequence[Source]:
    pool = services.database.pool
    return [
        Source(
            "messaging_oldest_due_seconds",
            "Seconds for which the oldest work of a queue has been due.",
            "queue",
            lambda: _ages(services),
        ),
        Source(
            "messaging_outbox_events",
            "Events that wait to be dispatched.",
            "state",
            lambda: events.count_waiting(pool),
        ),
        Source(
            "messaging_failed_reactions",
            "Reactions to events that failed: those that are tried again, and those that were set aside.",
            "state",
            lambda: set_aside.count_failures(pool),
        ),
    ]


def _webhooks(services: Services) -> Sequence[Source]:
    pool, clock = services.database.pool, services.clock
    return [
        Source(
            "messaging_webhooks_pending",
            "Deliveries to subscribers that are due, and that wait for their next attempt.",
            "state",
            lambda: figures.count_pending(pool, clock.now()),
        ),
        Source(
            "messaging_webhooks_oldest_seconds",
            "Age of the oldest delivery that is due, and of the oldest that waits.",
            "state",
            lambda: figures.age_pending(pool, clock.now()),
        ),
        Source(
            "messaging_webhooks_success_ratio",
            "Share of the last half hour's deliveries that arrived, of the hundred busiest webhooks.",
            "webhook",
            lambda: figures.rate_success(pool, clock.now()),
        ),
    ]


def _alerts(services: Services) -> Source:
    return Source(
        "messaging_carrier_alerts",
        "Connections to carriers that need a person, by the kind of the alert.",
        "alert",
        lambda: alerts.count(services.database.pool),
    )


def _partitions(services: Services) -> Source:
    async def count() -> Mapping[str, float]:
        return {each.history.tables[0]: await each.count_left() for each in services.histories}

    return Source(
        "messaging_partition_ids_left", "Number of further rows that a table has partitions for.", "table", count
    )


async def _ages(services: Services) -> Mapping[str, float]:
    now = services.clock.now()
    ages = [await services.database.pool.fetchval(statement, now) for statement in OLDEST.values()]
    return {queue: max(0.0, float(age or 0)) for queue, age in zip(OLDEST, ages, strict=True)}


class Shared(Generic[T]):
    """A result shared by concurrent requests, and cached for `CACHE_SECONDS` from the start of its computation."""

    def __init__(self, find: Callable[[], Awaitable[T]]) -> None:
        self._find = find
        self._asked_at = 0.0
        self._answer: asyncio.Future[T] | None = None

    async def __call__(self) -> T:
        """Return the result; raise the error of its computation."""
        if self._answer is None or (self._answer.done() and not self._is_fresh(self._answer)):
            self._asked_at, self._answer = time.monotonic(), asyncio.ensure_future(self._find())
        return await asyncio.shield(self._answer)

    def _is_fresh(self, answer: asyncio.Future[T]) -> bool:
        is_good = not answer.cancelled() and answer.exception() is None
        return is_good and time.monotonic() < self._asked_at + CACHE_SECONDS


class DatabaseProbe:
    """Checks the database, with one query at a time for any number of requests.

    A query on a hanging connection cannot even be cancelled; the caller stops waiting after `PATIENCE`.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._asking: asyncio.Task[bool] | None = None

    async def __call__(self) -> bool:
        """Return whether the database answers in time."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask())
        await asyncio.wait({self._asking}, timeout=PATIENCE)
        return self._asking.done() and self._asking.result()

    async def _ask(self) -> bool:
        try:
            return await self._pool.fetchval("SELECT true")
        except UNREACHABLE:
            return False


async def _reach_redis(services: Services) -> bool:
    redis = open_redis(services.settings.redis_url or "", REDIS_PATIENCE)
    try:
        return bool(await redis.ping())
    except AWAY:
        return False
    finally:
        await redis.aclose()


def _json(value: Mapping[str, str], status: int = 200) -> Response:
    return Response(orjson.dumps(value), status, media_type="application/json")

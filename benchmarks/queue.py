"""The queue of outgoing texts, in batches, against one Dramatiq job a message: both are filled and emptied.

The product adds the texts of a campaign batch by batch, claims as many at a time as hand-off does of promotional texts,
within the shares of its window, removes them while it claims the next, and vacuums the queue as often. No text leaves.
"""

import asyncio
import time
from datetime import UTC, datetime, timedelta

import dramatiq
from dramatiq.brokers.redis import RedisBroker

from app.bootstrap import open_services
from app.db import rows
from app.db.engine import Pool, transaction
from app.domain.campaigns.batches import BATCH
from app.domain.messages import division, outgoing
from app.domain.messages.division import UNPACED, WaitingText
from app.domain.messages.models import Purpose
from app.domain.messages.promotions import AT_ONCE
from app.domain.messages.vacuum import QueueVacuum
from app.domain.messages.window import Window
from benchmarks import accounts
from benchmarks.figures import Bar, Comparison, Series
from benchmarks.harness import Stage

TEXTS, JOBS = 20_000, 5_000
NUMBER, CARRIER = "+15002000001", "sandbox"
LANE = outgoing.lane_of(Purpose.promotional)

ADD = outgoing.INSERT.format(
    rows=f"""
  SELECT id AS message_id, $1::bigint AS account_id, {LANE} AS lane, '{NUMBER}' AS number, '{CARRIER}' AS carrier,
    1 AS segments, now() AS due_at, NULL::timestamptz AS claimed_until, now() + interval '1 day' AS expires_at
  FROM generate_series($2::bigint + 1, $2 + {BATCH}) AS id
"""
)


async def measure(on: Stage, rounds: int) -> list[Comparison]:
    """Fill and empty both queues in turns."""
    async with on.database("queue") as settings, open_services(settings) as services:
        [account] = await accounts.open_accounts(settings, 1)
        seen = [
            (
                await _queue(services.database.pool, account.id, settings.handoff_window),
                await asyncio.to_thread(_run_jobs, settings.redis_url or ""),
            )
            for _ in range(rounds)
        ]
    product, jobs = Series("batches", [one for one, _ in seen]), Series("jobs", [other for _, other in seen])
    return [Comparison("enqueue and drain: one job a message", "messages/s", product, jobs, Bar(10))]


async def _queue(pool: Pool, account_id: int, window: int) -> float:
    """Return the texts a second that are added, claimed and removed."""
    begun, removed = time.perf_counter(), 0
    for first in range(0, TEXTS, BATCH):
        await pool.execute(ADD, account_id, first)
    vacuum = QueueVacuum(pool)
    claimed = await _claim(pool, window)
    while claimed:
        removed += len(claimed)
        vacuum.note(len(claimed))
        claimed, _ = await asyncio.gather(_claim(pool, window), pool.execute(outgoing.REMOVE, claimed))
        await vacuum.run()
    return removed / (time.perf_counter() - begun)


async def _claim(pool: Pool, window: int) -> list[int]:
    now = datetime.now(UTC)
    async with transaction(pool, outgoing.KEEP_ORDER) as connection:
        number = [LANE], [CARRIER], [NUMBER], [AT_ONCE]
        waiting = await rows.fetch(connection, WaitingText, outgoing.LOCK_WAITING, now, *number)
        chosen = [each.message_id for each in division.divide(waiting, Window(window).room(), AT_ONCE, UNPACED)]
        await connection.execute(outgoing.CLAIM, rows.integers(chosen), now + timedelta(seconds=30))
    return chosen


def _run_jobs(redis_url: str) -> float:
    """Return the jobs a second that Dramatiq enqueues and runs, each of which does nothing."""
    broker = RedisBroker(url=redis_url, namespace="benchmark")
    nothing = dramatiq.actor(lambda _: None, broker=broker, actor_name="nothing")
    worker = dramatiq.Worker(broker)
    begun = time.perf_counter()
    for id in range(JOBS):
        nothing.send(id)
    worker.start()
    broker.join(nothing.queue_name)
    taken = time.perf_counter() - begun
    worker.stop()
    broker.close()
    return JOBS / taken

"""Dramatiq's broker, and the consumer that starts jobs on the event loop when their topics are notified."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress

import dramatiq
import structlog
from dramatiq.brokers.redis import RedisBroker
from redis.exceptions import RedisError

from app.db.redis import open_blocking_redis
from app.jobs.job import Runner
from app.jobs.notifier import NAMESPACE, QUEUE, unanswered

TIMEOUT_SECONDS = 5
HEARTBEAT_MS = 10_000
MAINTENANCE_PER_MILLION = 100_000
DEAD_NOTIFICATION_MS = 60_000
POLL_MS = 20
PREFETCH = 64
HANG_UP_MS = 1000

log = structlog.get_logger(__name__)


class NotificationBroker(RedisBroker):
    """A Redis broker without delay queues: work that is due later is stored in the database."""

    def get_declared_delay_queues(self) -> set[str]:
        """Return none, so that no consumer polls for delayed notifications."""
        return set()


def make_broker(redis_url: str, runners: Iterable[Runner]) -> NotificationBroker:
    """Return a broker with an actor for each topic, which starts the runner on the event loop that calls this.

    An actor returns at once, so a slow job occupies no thread of Dramatiq and delays no other topic. There is no
    middleware for retries, age limits or time limits, because the poller finds the work of a lost notification.
    """
    broker = NotificationBroker(
        client=open_blocking_redis(redis_url, TIMEOUT_SECONDS),
        namespace=NAMESPACE,
        middleware=[],
        heartbeat_timeout=HEARTBEAT_MS,
        maintenance_chance=MAINTENANCE_PER_MILLION,
        dead_message_ttl=DEAD_NOTIFICATION_MS,
    )
    loop = asyncio.get_running_loop()
    for runner in runners:
        _declare_actor(broker, runner, loop)
    return broker


def make_consumer(broker: NotificationBroker) -> dramatiq.Worker:
    """Return the consumer of notifications; `start` starts its threads. One runs the actors, which return at once."""
    consumer = dramatiq.Worker(broker, worker_timeout=POLL_MS, worker_threads=1)
    consumer.queue_prefetch = PREFETCH
    return consumer


def hang_up(consumer: dramatiq.Worker, broker: NotificationBroker) -> None:
    """Stop the consumer and disconnect; takes at most two seconds, and only while Redis is unreachable."""
    try:
        consumer.stop(HANG_UP_MS)
    except RedisError as error:
        log.warning("notifications_not_requeued", error=repr(error))
    broker.client.close()


def _declare_actor(broker: NotificationBroker, runner: Runner, loop: asyncio.AbstractEventLoop) -> None:
    def answer() -> None:
        # First, because a later notification may be for work that this run does not see.
        with suppress(RedisError):
            broker.client.delete(unanswered(runner.job.topic))
        loop.call_soon_threadsafe(runner.start)

    dramatiq.actor(actor_name=runner.job.topic, queue_name=QUEUE, broker=broker)(answer)

"""Dramatiq's broker, and the consumer that starts jobs on the event loop when their topics are notified.

Dramatiq's consumer asks Redis many times a second whether there is a message. This one asks when a notifier has
published on the channel `WAKE`, and otherwise once in `IDLE_SECONDS`.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress

import dramatiq
import structlog
from dramatiq import Consumer, MessageProxy
from dramatiq.brokers.redis import RedisBroker
from dramatiq.errors import ConnectionClosed
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError

from app.db.redis import open_blocking_redis
from app.jobs.job import Runner
from app.jobs.notifier import NAMESPACE, QUEUE, WAKE, unanswered

TIMEOUT_SECONDS = 5
HEARTBEAT_MS = 10_000
MAINTENANCE_PER_MILLION = 100_000
DEAD_NOTIFICATION_MS = 60_000
IDLE_SECONDS = 1.0
STOP_CHECK_MS = 100
"""The interval at which Dramatiq's thread of actors looks whether it shall stop."""
PREFETCH = 64
DISCONNECT_MS = 1000

log = structlog.get_logger(__name__)


class NotificationBroker(RedisBroker):
    """A Redis broker without delay queues: work that is due later is stored in the database."""

    is_stopping = False

    def get_declared_delay_queues(self) -> set[str]:
        """Return none, so that no consumer polls for delayed notifications."""
        return set()

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = STOP_CHECK_MS) -> Consumer:
        """Return a consumer that waits until a notifier has published."""
        return _WakingConsumer(self, super().consume(queue_name, prefetch, timeout=1))


class _WakingConsumer(Consumer):
    """Waits on the channel `WAKE` whenever the consumer of Dramatiq finds nothing."""

    def __init__(self, broker: NotificationBroker, consumer: Consumer) -> None:
        self._broker = broker
        self._consumer = consumer
        self._channel = broker.client.pubsub(ignore_subscribe_messages=True)
        self.ack, self.nack, self.requeue = consumer.ack, consumer.nack, consumer.requeue

    def __next__(self) -> MessageProxy | None:
        found = next(self._consumer)
        if found is None and not self._broker.is_stopping:
            self._wait()
        return found

    def close(self) -> None:
        self._consumer.close()
        self._channel.close()

    def _wait(self) -> None:
        try:
            if not self._channel.subscribed:
                self._channel.subscribe(WAKE)  # then looks again, for what came before
            elif self._channel.get_message(timeout=IDLE_SECONDS):
                while self._channel.get_message():  # one search answers all
                    pass
        except RedisConnectionError as error:
            raise ConnectionClosed(error) from None


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
    consumer = dramatiq.Worker(broker, worker_timeout=STOP_CHECK_MS, worker_threads=1)
    consumer.queue_prefetch = PREFETCH
    return consumer


def disconnect(consumer: dramatiq.Worker, broker: NotificationBroker) -> None:
    """Stop the consumer and disconnect; takes at most two seconds, and only while Redis is unreachable."""
    broker.is_stopping = True
    try:
        broker.client.publish(WAKE, "")
        consumer.stop(DISCONNECT_MS)
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

"""Dramatiq's broker, and the consumer that starts jobs on the event loop when their topics are notified.

Dramatiq's consumer asks Redis many times a second whether there is a message. This one asks when a notifier has
published on the channel `WAKE`, and otherwise once in `IDLE_SECONDS`. The thread of actors waits without a time limit.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from queue import Empty, PriorityQueue
from typing import Any

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
MAINTENANCE_PER_MILLION = 300_000
"""The share of searches that also look for dead workers: an idle worker does so about once in ten seconds."""

DEAD_NOTIFICATION_MS = 60_000
IDLE_SECONDS = 3.0
"""The time after which Redis is asked without a publication; the heartbeats have to be more frequent."""
PREFETCH = 64
DISCONNECT_MS = 1000

log = structlog.get_logger(__name__)


class NotificationBroker(RedisBroker):
    """A Redis broker without delay queues: work that is due later is stored in the database."""

    is_stopping = False

    def get_declared_delay_queues(self) -> set[str]:
        """Return none, so that no consumer polls for delayed notifications."""
        return set()

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 0) -> Consumer:
        """Return a consumer that waits until a notifier has published, whatever the timeout."""
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


class _Inbox(PriorityQueue[Any]):
    """The notifications for the thread of actors, which waits for one until the queue is closed."""

    is_closed = False

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """Return the next notification; raise `Empty` if there is none and none is waited for any more."""
        with self.not_empty:
            self.not_empty.wait_for(lambda: self._qsize() or self.is_closed or not block)
            if not self._qsize():
                raise Empty
            return self._get()

    def close(self) -> None:
        """End the wait."""
        with self.not_empty:
            self.is_closed = True
            self.not_empty.notify_all()


class NotificationConsumer(dramatiq.Worker):
    """The threads of Dramatiq: one consumes notifications, one runs the actors, which return at once."""

    def __init__(self, broker: NotificationBroker) -> None:
        super().__init__(broker, worker_threads=1)
        self.queue_prefetch = PREFETCH
        self.work_queue = self._inbox = _Inbox()

    def stop(self, timeout: int = DISCONNECT_MS) -> None:
        """Stop within a time in milliseconds."""
        for thread in self.workers:
            thread.stop()
        self._inbox.close()
        super().stop(timeout)


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


def disconnect(consumer: NotificationConsumer, broker: NotificationBroker) -> None:
    """Stop the consumer and disconnect; takes at most two seconds, and only while Redis is unreachable."""
    broker.is_stopping = True
    try:
        broker.client.publish(WAKE, "")
        consumer.stop()
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

"""Notifies workers of topics that have work: through Dramatiq's broker, and of urgent topics by publication alone."""

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import structlog
from dramatiq import Message
from dramatiq.brokers.redis import RedisBroker
from redis.backoff import NoBackoff
from redis.retry import Retry

from app.db.redis import AWAY, open_blocking_redis
from app.jobs.job import Runner
from app.telemetry.logs import Throttle
from app.telemetry.metrics import NOTIFICATIONS

NAMESPACE = "messaging"
QUEUE = "topics"
WAKE = f"{NAMESPACE}:notified"
"""The channel on which a notifier publishes, so that idle workers look at the queue."""

URGENT = frozenset({"messages"})
"""The topics whose notifications start the job in every worker: the threads of Dramatiq wait long for a busy loop."""

WAKE_URGENT = f"{NAMESPACE}:urgent"
"""The channel of urgent topics."""

SHORTEST_REST_SECONDS, LONGEST_REST_SECONDS, REST_FACTOR = 0.01, 0.05, 9
"""The pause between two notifications of a topic, as a multiple of their duration within limits.

Notifying others takes three commands and wakes their threads, so it is rarer while the machine is busy; a publication
of an urgent topic wakes no thread. The pause is the longest where no worker listens, or an earlier one waits for it.
"""

HELP_SECONDS = 0.25
"""The time between notifications of other workers for a topic while the slots of this one are busy."""

TIMEOUT_SECONDS = 1
UNANSWERED_MS = 1000

log = structlog.get_logger(__name__)


def unanswered(topic: str) -> str:
    """Return the key that exists while a notification waits for a worker; it expires after a second."""
    return f"{NAMESPACE}:topic:{topic}"


class Notifier:
    """Notifies topics from the code of one event loop; a separate thread communicates with Redis.

    In a worker it starts the jobs of the process itself, and notifies the other workers only while these are busy.
    """

    def __init__(self, redis_url: str) -> None:
        # The broker of the worker does the maintenance of the queue.
        self._broker = RedisBroker(
            client=open_blocking_redis(redis_url, TIMEOUT_SECONDS, retry=Retry(NoBackoff(), 1)),
            namespace=NAMESPACE,
            middleware=[],
            maintenance_chance=0,
        )
        self._broker.declare_queue(QUEUE)
        self._thread = ThreadPoolExecutor(1, "notifier")
        self._topics: set[str] = set()
        self._notifying: dict[str, asyncio.Task[None]] = {}
        self._closed = False
        self._warnings = Throttle()
        self._runners: dict[str, Runner] = {}
        self._helps: defaultdict[str, Throttle] = defaultdict(lambda: Throttle(HELP_SECONDS))

    def serve(self, runners: Iterable[Runner]) -> None:
        """Start these jobs of the process without Redis when their topics are notified."""
        self._runners = {runner.job.topic: runner for runner in runners}

    def notify(self, topic: str) -> None:
        """Notify a worker of committed work. Returns at once and never fails: polling replaces lost notifications."""
        if self._closed:
            return
        self._topics.add(topic)
        if topic not in self._notifying:
            self._notifying[topic] = asyncio.get_running_loop().create_task(self._notify_repeatedly(topic))

    async def close(self) -> None:
        """Wait for the notifications in progress, and disconnect."""
        self._closed = True
        await asyncio.gather(*self._notifying.values())
        self._thread.shutdown()
        self._broker.client.close()

    async def _notify_repeatedly(self, topic: str) -> None:
        """Notify a topic as often as that is asked for, with pauses."""
        try:
            while topic in self._topics:
                self._topics.discard(topic)
                begun = time.monotonic()
                result = "started" if self._is_served(topic) else await self._notify_others(topic)
                NOTIFICATIONS.labels(topic, result).inc()
                await asyncio.sleep(_rest(topic, result, time.monotonic() - begun))
        finally:
            del self._notifying[topic]

    async def _notify_others(self, topic: str) -> str:
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._send, topic)
        except AWAY as error:
            if self._warnings.passes():
                log.warning("notification_failed", topic=topic, error=repr(error))
            return "failed"

    def _is_served(self, topic: str) -> bool:
        """Start the job of the topic if it runs in this process; return whether no other worker is to be notified."""
        if not (runner := self._runners.get(topic)):
            return False
        needs_help = runner.is_busy and self._helps[topic].passes()
        runner.start()
        return not needs_help

    def _send(self, topic: str) -> str:
        if topic in URGENT:
            return "notified" if self._broker.client.publish(WAKE_URGENT, topic) else "unheard"
        if not self._broker.client.set(unanswered(topic), 1, nx=True, px=UNANSWERED_MS):
            return "already_notified"
        self._broker.enqueue(Message(queue_name=QUEUE, actor_name=topic, args=(), kwargs={}, options={}))
        self._broker.client.publish(WAKE, topic)
        return "notified"


def _rest(topic: str, result: str, seconds: float) -> float:
    """Return the pause in seconds after a notification that took so many."""
    if result in ("already_notified", "unheard"):
        return LONGEST_REST_SECONDS
    rest = 0.0 if topic in URGENT else REST_FACTOR * seconds
    return min(max(SHORTEST_REST_SECONDS, rest), LONGEST_REST_SECONDS)

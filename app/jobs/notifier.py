"""The notifier: wakes a worker within milliseconds. It carries no work, so that no ring has to arrive."""

import asyncio
import uuid

import structlog
from dramatiq import Message

from app.db.redis import AWAY, open_redis
from app.telemetry.logs import Throttle
from app.telemetry.metrics import NOTIFICATIONS

NAMESPACE = "messaging"
QUEUE = "topics"

REST_SECONDS = 0.01
UNANSWERED_MS = 1000

# What dramatiq's `dispatch.lua` does to enqueue, unless a ring that no worker has answered is there already.
_NOTIFY = """
if not redis.call('set', KEYS[1], 1, 'nx', 'px', ARGV[1]) then
  return 0
end
redis.call('hset', KEYS[2] .. '.msgs', ARGV[2], ARGV[3])
redis.call('rpush', KEYS[2], ARGV[2])
return 1
"""

log = structlog.get_logger(__name__)


def unanswered(topic: str) -> str:
    """Return the key that exists while a ring waits for a worker; it runs out by itself after a second."""
    return f"{NAMESPACE}:topic:{topic}"


class Notifier:
    """Rings topics from the code of one event loop."""

    def __init__(self, redis_url: str) -> None:
        self._redis = open_redis(redis_url, 1)
        self._script = self._redis.register_script(_NOTIFY)
        self._topics: set[str] = set()
        self._notifying: asyncio.Task[None] | None = None
        self._closed = False
        self._warnings = Throttle()

    def notify(self, topic: str) -> None:
        """Wake a worker for work that is committed. Returns at once and never fails: the clock stands behind it."""
        if self._closed:
            return
        self._topics.add(topic)
        if self._notifying is None:
            self._notifying = asyncio.get_running_loop().create_task(self._notify_all())

    async def close(self) -> None:
        """Wait for the rings under way, and disconnect."""
        self._closed = True
        if self._notifying:
            await self._notifying
        await self._redis.aclose()

    async def _notify_all(self) -> None:
        try:
            while self._topics:
                topics, self._topics = self._topics, set()
                for topic in topics:
                    NOTIFICATIONS.labels(topic, await self._notify_one(topic)).inc()
                await asyncio.sleep(REST_SECONDS)
        finally:
            self._notifying = None

    async def _notify_one(self, topic: str) -> str:
        try:
            notified = await self._script(
                [unanswered(topic), f"{NAMESPACE}:{QUEUE}"], [UNANSWERED_MS, *_message(topic)]
            )
        except AWAY as error:
            if self._warnings.passes():
                log.warning(
                    "the notifier does not reach Redis; work waits for the clock", topic=topic, error=repr(error)
                )
            return "failed"
        return "notified" if notified else "already_notified"


def _message(topic: str) -> tuple[str, bytes]:
    key = str(uuid.uuid4())
    message = Message(queue_name=QUEUE, actor_name=topic, args=(), kwargs={}, options={"redis_message_id": key})
    return key, message.encode()

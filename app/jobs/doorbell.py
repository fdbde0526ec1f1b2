"""The doorbell: wakes a worker within milliseconds. It carries no work, so that no ring has to arrive."""

import asyncio
import uuid

import structlog
from dramatiq import Message

from app.db.redis import AWAY, open_redis
from app.telemetry.logs import Throttle
from app.telemetry.metrics import RINGS

NAMESPACE = "messaging"
QUEUE = "bells"

REST_SECONDS = 0.01
UNANSWERED_MS = 1000

# What dramatiq's `dispatch.lua` does to enqueue, unless a ring that no worker has answered is there already.
_RING = """
if not redis.call('set', KEYS[1], 1, 'nx', 'px', ARGV[1]) then
  return 0
end
redis.call('hset', KEYS[2] .. '.msgs', ARGV[2], ARGV[3])
redis.call('rpush', KEYS[2], ARGV[2])
return 1
"""

log = structlog.get_logger(__name__)


def unanswered(bell: str) -> str:
    """Return the key that exists while a ring waits for a worker; it runs out by itself after a second."""
    return f"{NAMESPACE}:bell:{bell}"


class Doorbell:
    """Rings bells from the code of one event loop."""

    def __init__(self, redis_url: str) -> None:
        self._redis = open_redis(redis_url, 1)
        self._script = self._redis.register_script(_RING)
        self._bells: set[str] = set()
        self._ringing: asyncio.Task[None] | None = None
        self._closed = False
        self._warnings = Throttle()

    def ring(self, bell: str) -> None:
        """Wake a worker for work that is committed. Returns at once and never fails: the clock stands behind it."""
        if self._closed:
            return
        self._bells.add(bell)
        if self._ringing is None:
            self._ringing = asyncio.get_running_loop().create_task(self._ring_all())

    async def close(self) -> None:
        """Wait for the rings under way, and disconnect."""
        self._closed = True
        if self._ringing:
            await self._ringing
        await self._redis.aclose()

    async def _ring_all(self) -> None:
        try:
            while self._bells:
                bells, self._bells = self._bells, set()
                for bell in bells:
                    RINGS.labels(bell, await self._ring_one(bell)).inc()
                await asyncio.sleep(REST_SECONDS)
        finally:
            self._ringing = None

    async def _ring_one(self, bell: str) -> str:
        try:
            rung = await self._script([unanswered(bell), f"{NAMESPACE}:{QUEUE}"], [UNANSWERED_MS, *_message(bell)])
        except AWAY as error:
            if self._warnings.passes():
                log.warning("the doorbell does not reach Redis; work waits for the clock", bell=bell, error=repr(error))
            return "failed"
        return "rung" if rung else "already_rung"


def _message(bell: str) -> tuple[str, bytes]:
    key = str(uuid.uuid4())
    message = Message(queue_name=QUEUE, actor_name=bell, args=(), kwargs={}, options={"redis_message_id": key})
    return key, message.encode()

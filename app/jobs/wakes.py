"""Starts jobs on the event loop of a process when their topics are notified, whichever worker answers."""

import asyncio
from collections.abc import Callable

import structlog
from redis.backoff import NoBackoff
from redis.retry import Retry

from app.db.redis import AWAY, open_redis
from app.jobs.notifier import WAKE, WAKE_URGENT
from app.telemetry.logs import Throttle

QUIET_SECONDS = 30.0
AWAY_SECONDS = 1.0

log = structlog.get_logger(__name__)


class Wakes:
    """Listens to the notifications of workers, and returns the topic of each; polling finds missed ones."""

    def __init__(self, redis_url: str, wake: Callable[[str], None]) -> None:
        self._redis = open_redis(redis_url, 1, socket_timeout=5, retry=Retry(NoBackoff(), 0))
        self._wake = wake
        self._warnings = Throttle()

    async def run(self) -> None:
        """Listen until cancelled."""
        while True:
            try:
                await self._listen()
            except AWAY as error:
                if self._warnings.passes():
                    log.warning("notifications_not_received", error=repr(error))
                await asyncio.sleep(AWAY_SECONDS)

    async def close(self) -> None:
        """Disconnect."""
        await self._redis.aclose()

    async def _listen(self) -> None:
        async with self._redis.pubsub(ignore_subscribe_messages=True) as channel:
            await channel.subscribe(WAKE, WAKE_URGENT)
            while True:
                match await channel.get_message(timeout=QUIET_SECONDS):
                    case {"data": bytes(topic)}:
                        self._wake(topic.decode())

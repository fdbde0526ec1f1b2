"""Places for downloads of exports: one for each account, in Valkey, and a bounded number in each process.

An account's place is a lock that runs out by itself when its process is killed. While Valkey is away, each process
keeps the places of its own downloads alone.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import structlog
from redis.asyncio.lock import Lock

from app.db.redis import AWAY, open_redis
from app.domain.erasure.downloads import ExportInProgress

MOST = 32
"""How many downloads a process sends at the same time; few of them read and compress at any moment."""

TIMEOUT_SECONDS = 1.0
LOCK_SECONDS = 60.0
"""How long the place of an account is taken after its process was killed."""

log = structlog.get_logger(__name__)


class Places:
    """The places of one process, `most` of them; `close` it at the end."""

    def __init__(self, redis_url: str, most: int = MOST) -> None:
        self._redis = open_redis(redis_url, TIMEOUT_SECONDS)
        self._most = most
        self._taken: set[int] = set()

    @asynccontextmanager
    async def take(self, account_id: int) -> AsyncGenerator[None]:
        """Hold the place of an account while a block runs; raise `ExportInProgress` where none is free."""
        if account_id in self._taken or len(self._taken) >= self._most:
            raise ExportInProgress()
        self._taken.add(account_id)
        try:
            lock = self._redis.lock(f"export:{account_id}", LOCK_SECONDS)
            if not await _acquire(lock):
                raise ExportInProgress()
            renewing = asyncio.create_task(_renew(lock))
            try:
                yield
            finally:
                renewing.cancel()
                with suppress(*AWAY):
                    await lock.release()
        finally:
            self._taken.discard(account_id)

    async def close(self) -> None:
        """Disconnect."""
        await self._redis.aclose()


async def _acquire(lock: Lock) -> bool:
    try:
        return await lock.acquire(blocking=False)
    except AWAY as error:
        log.warning("export_place_not_shared: Redis unreachable", error=repr(error))
        return True


async def _renew(lock: Lock) -> None:
    while True:
        await asyncio.sleep(LOCK_SECONDS / 3)
        with suppress(*AWAY):
            await lock.reacquire()

"""Limits of export downloads: one for each account, by a lock in Valkey, and a maximum for each process.

The lock expires when its process is killed. While Valkey is unreachable, each process limits only its own downloads.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import structlog
from redis.asyncio.lock import Lock

from app.db.redis import AWAY, open_redis
from app.domain.erasure.downloads import ExportInProgress

MOST = 32
"""Maximum number of concurrent downloads of a process."""

TIMEOUT_SECONDS = 1.0
LOCK_SECONDS = 60.0
"""The expiry of an account's lock."""

log = structlog.get_logger(__name__)


class Places:
    """The slots of one process, `most` of them; `close` it at the end."""

    def __init__(self, redis_url: str, most: int = MOST) -> None:
        self._redis = open_redis(redis_url, TIMEOUT_SECONDS)
        self._most = most
        self._taken: set[int] = set()

    @asynccontextmanager
    async def take(self, account_id: int) -> AsyncGenerator[None]:
        """Hold a slot and the account's lock during a block; raise `ExportInProgress` when none is free."""
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
        log.warning("export_not_locked", error=repr(error))
        return True


async def _renew(lock: Lock) -> None:
    while True:
        await asyncio.sleep(LOCK_SECONDS / 3)
        with suppress(*AWAY):
            await lock.reacquire()

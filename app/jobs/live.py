"""Announces to all web processes which accounts have live updates, and wakes their streams.

An announcement contains no updates: a woken stream reads them from the database. Presences are passed on as they are.
"""

import asyncio
from collections import defaultdict
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any

import orjson
import structlog
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from app.db.redis import AWAY, open_redis
from app.domain.events.reactions import OutboxEvent
from app.domain.kernel.errors import DomainError
from app.domain.kernel.events import live_kind_of
from app.domain.live.presence import Presence
from app.jobs.notifier import NAMESPACE
from app.telemetry.logs import Throttle

CHANNEL = f"{NAMESPACE}:updates"
PRESENCE = f"{NAMESPACE}:presence"
MAX_PRESENT = 100
"""The maximum number of presences that wait for a stream; the oldest are dropped."""
MAX_STREAMS = 200
ANNOUNCE_SECONDS = 1.0
QUIET_SECONDS = 10.0
"""The time without an announcement after which a stream reads the feed, in case a worker failed to announce."""
AWAY_SECONDS = 2.0
"""The interval at which streams read the feed while Redis is unreachable."""

log = structlog.get_logger(__name__)


class Stopping(Exception):
    """The process stops; clients connect again, to another process."""


class TooManyStreams(DomainError):
    """The account has the maximum number of live streams open. Close some, or share one among several pages."""

    code = "too_many_streams"
    status = 429
    message = "An account can have {limit} live streams in one process. Close some first."


class Announcer:
    """Announces to all web processes the accounts with updates."""

    def __init__(self, redis_url: str) -> None:
        once_more = Retry(NoBackoff(), 1)
        self._redis = open_redis(redis_url, ANNOUNCE_SECONDS, retry=once_more)
        self._warnings = Throttle()

    async def announce(self, events: Sequence[OutboxEvent]) -> None:
        """Announce a batch of dispatched events. Never fails: streams also read the feed at intervals."""
        accounts = sorted({event.account_id for event in events if live_kind_of(event.name)})
        if not accounts:
            return
        try:
            async with asyncio.timeout(ANNOUNCE_SECONDS):
                await self._redis.publish(CHANNEL, orjson.dumps(accounts))
        except AWAY as error:
            if self._warnings.passes():
                log.warning("updates_not_announced", error=repr(error))

    async def aclose(self) -> None:
        """Disconnect."""
        await self._redis.aclose()


class Watch:
    """The wait of one stream for announcements of its account."""

    def __init__(self) -> None:
        self._news = asyncio.Event()
        self._stopping = False
        self._present: dict[tuple[int, str], Presence] = {}

    def show(self, presence: Presence) -> None:
        """Keep a presence for the stream, in place of an earlier one of that actor, and wake it."""
        key = presence.conversation_id, presence.actor
        self._present.pop(key, None)
        if len(self._present) >= MAX_PRESENT:
            del self._present[next(iter(self._present))]
        self._present[key] = presence
        self._news.set()

    def take_present(self) -> Sequence[Presence]:
        """Return the presences since the last call, the oldest first."""
        present = list(self._present.values())
        self._present.clear()
        return present

    def wake(self, *, stopping: bool = False) -> None:
        """End the current wait, or the next one."""
        self._stopping = self._stopping or stopping
        self._news.set()

    async def wait(self) -> None:
        """Return after an announcement or a timeout; raise `Stopping` when the process stops."""
        with suppress(TimeoutError):
            async with asyncio.timeout(QUIET_SECONDS):
                await self._news.wait()
        self._news.clear()
        if self._stopping:
            raise Stopping


class Listener:
    """Receives announcements over one connection for all streams, opened for the first of them."""

    def __init__(self, redis_url: str) -> None:
        self._redis = open_redis(
            redis_url, 1, socket_timeout=5, health_check_interval=QUIET_SECONDS, retry=Retry(NoBackoff(), 0)
        )
        self._watches: dict[int, set[Watch]] = defaultdict(set)
        self._receiving: asyncio.Task[None] | None = None
        self._stopping = False
        self._warnings = Throttle()

    @contextmanager
    def watch(self, account_id: int) -> Generator[Watch]:
        """Give a watch for the announcements of an account; raise `TooManyStreams` at the limit of an account."""
        if len(self._watches[account_id]) >= MAX_STREAMS:
            raise TooManyStreams(limit=MAX_STREAMS)
        if self._receiving is None and not self._stopping:
            self._receiving = asyncio.create_task(self._receive_always())
        watch = Watch()
        self._watches[account_id].add(watch)
        if self._stopping:
            watch.wake(stopping=True)
        try:
            yield watch
        finally:
            self._watches[account_id].discard(watch)
            if not self._watches[account_id]:
                del self._watches[account_id]

    async def announce(self, presence: Presence) -> None:
        """Show a presence to all streams of its account. Never fails: it is repeated soon, or of no use any more."""
        try:
            async with asyncio.timeout(ANNOUNCE_SECONDS):
                await self._redis.publish(PRESENCE, orjson.dumps(presence))
        except AWAY as error:
            if self._warnings.passes():
                log.warning("presence_not_announced", error=repr(error))

    def stop(self) -> None:
        """End every stream, and those opened later: the process stops."""
        self._stopping = True
        self._wake(list(self._watches), stopping=True)

    async def close(self) -> None:
        """Stop, and disconnect."""
        self.stop()
        while self._receiving and not self._receiving.done():
            self._receiving.cancel()  # repeated, because redis-py can lose a subscription while it connects
            await asyncio.wait({self._receiving}, timeout=0.1)
        await self._redis.aclose()

    async def _receive_always(self) -> None:
        while True:
            try:
                await self._receive()
            except Exception as error:
                if self._warnings.passes():
                    log.warning("updates_not_received", error=repr(error))
                self._wake(list(self._watches))
                await asyncio.sleep(AWAY_SECONDS)

    async def _receive(self) -> None:
        async with self._redis.pubsub(ignore_subscribe_messages=True) as channel:
            await channel.subscribe(CHANNEL, PRESENCE)
            self._wake(list(self._watches))  # for announcements before the subscription
            while True:
                match await channel.get_message(timeout=QUIET_SECONDS):
                    case {"channel": place, "data": bytes(data)} if place == PRESENCE.encode():
                        self._show(orjson.loads(data))
                    case {"data": bytes(data)}:
                        self._wake(orjson.loads(data))

    def _wake(self, accounts: Sequence[int], *, stopping: bool = False) -> None:
        for account_id in accounts:
            for watch in self._watches.get(account_id, ()):
                watch.wake(stopping=stopping)

    def _show(self, told: dict[str, Any]) -> None:
        presence = Presence(**told | {"at": datetime.fromisoformat(told["at"])})
        for watch in self._watches.get(presence.account_id, ()):
            watch.show(presence)

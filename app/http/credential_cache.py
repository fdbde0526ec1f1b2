"""Short-lived cache of API keys and OAuth grants."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Generic, Protocol, TypeVar

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.engine import Database

log = structlog.get_logger(__name__)


class Known(Protocol):
    """A valid record."""

    @property
    def id(self) -> int:
        """Return its id."""
        ...


K = TypeVar("K")
V = TypeVar("V", bound=Known)

Find = Callable[[Database, K, datetime], Awaitable[V | None]]
"""Finds a record that is valid at a time."""

Touch = Callable[[AsyncSession, int, datetime], Awaitable[Any]]
"""Updates the last use of a record, at most once in `USED_EVERY`."""

USED_EVERY = timedelta(minutes=1)
MAX_KNOWN = 10_000
"""Maximum number of cached records in a process; the oldest is dropped first."""

NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class LookUp(Generic[V]):
    """A finished or running query; concurrent requests await the same one."""

    begun_at: datetime
    answer: asyncio.Task[V | None]


class CredentialCache(Generic[K, V]):
    """Finds records and caches valid ones for `ttl`, during which a revoked one still works."""

    def __init__(self, database: Database, ttl: timedelta, find: Find[K, V], touch: Touch) -> None:
        self._database = database
        self._ttl = ttl
        self._ask_for = find
        self._touch = touch
        self._begun: dict[K, LookUp[V]] = {}
        self._used: dict[int, datetime] = {}
        self._notes: set[asyncio.Task[None]] = set()

    def remembers(self, key: K) -> bool:
        """Return whether a key is cached or being queried."""
        return key in self._begun

    async def find(self, key: K, now: datetime) -> V | None:
        """Return the valid record of a key; its use is written later."""
        look_up = self._begun.get(key)
        # After the clock was set back, cached entries are not valid.
        if look_up is None or not now - self._ttl < look_up.begun_at <= now:
            look_up = LookUp(now, asyncio.create_task(self._ask(key, now)))
            _remember(self._begun, key, look_up)
        return await asyncio.shield(look_up.answer)

    async def close(self) -> None:
        """Wait until all pending uses are written."""
        await asyncio.gather(*self._notes)

    async def _ask(self, key: K, now: datetime) -> V | None:
        known = None
        try:
            known = await self._ask_for(self._database, key, now)
        finally:
            if known is None:
                self._begun.pop(key, None)
        if known and now - self._used.get(known.id, NEVER) > USED_EVERY:
            self._note_use(known.id, now)
        return known

    def _note_use(self, id: int, now: datetime) -> None:
        _remember(self._used, id, now)
        note = asyncio.create_task(self._write_use(id, now))
        self._notes.add(note)
        note.add_done_callback(self._notes.discard)

    async def _write_use(self, id: int, now: datetime) -> None:
        try:
            async with self._database.sessions.begin() as session:
                await self._touch(session, id, now)
        except Exception as cause:
            log.warning("last_use_not_recorded", id=id, function=self._touch.__name__, cause=type(cause).__name__)


def _remember(known: dict[Any, Any], key: object, value: object) -> None:
    known.pop(key, None)
    known[key] = value
    if len(known) > MAX_KNOWN:
        del known[next(iter(known))]

"""Short-lived cache of API keys and OAuth grants."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from typing import Any, Generic, Protocol, TypeVar

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.engine import Database
from app.domain.kernel.micro_batcher import MicroBatcher

log = structlog.get_logger(__name__)


class Known(Protocol):
    """A valid record."""

    @property
    def id(self) -> int:
        """Return its id."""
        ...


K = TypeVar("K")
V = TypeVar("V", bound=Known)

Find = Callable[[Database, Sequence[K], datetime], Awaitable[Mapping[K, V]]]
"""Finds the records of some keys that are valid at a time."""

Touch = Callable[[AsyncSession, int, datetime], Awaitable[Any]]
"""Updates the last use of a record, at most once in `USED_EVERY`."""

USED_EVERY = timedelta(minutes=1)
MAX_KNOWN = 10_000
"""Maximum number of cached records in a process; the oldest is dropped first."""

MAX_RENEWED = 64
"""Maximum number of cached records that a query renews."""

MAX_BATCH = 64
"""Maximum number of records that are not cached and that a query finds."""

NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class CachedQuery(Generic[K, V]):
    """A finished or running query of one or more keys; `is_used` once its answer for this key was used again."""

    begun_at: datetime
    answers: asyncio.Task[Mapping[K, V]]
    is_used: bool = False


class CredentialCache(Generic[K, V]):
    """Finds records and caches valid ones for `ttl`, during which a revoked one still works.

    One query runs at a time, and finds all records that were asked for while the one before it ran. It also renews the
    records that are in use and have half of that time left or less, so that one query in that time serves all keys in
    use.
    """

    def __init__(self, database: Database, ttl: timedelta, find: Find[K, V], touch: Touch) -> None:
        self._database = database
        self._ttl = ttl
        self._ask_for = find
        self._asked: MicroBatcher[tuple[Sequence[K], datetime], Mapping[K, V]] = MicroBatcher(self._serve, MAX_BATCH)
        self._touch = touch
        self._begun: dict[K, CachedQuery[K, V]] = {}
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
            look_up = self._look_up(key, now)
        else:
            look_up.is_used = True
        answers = look_up.answers
        known = (answers.result() if answers.done() else await asyncio.shield(answers)).get(key)
        if known and now - self._used.get(known.id, NEVER) > USED_EVERY:
            self._note_use(known.id, now)
        return known

    async def close(self) -> None:
        """Wait until all pending uses are written."""
        await asyncio.gather(*self._notes)

    def _look_up(self, key: K, now: datetime) -> CachedQuery[K, V]:
        keys = [key, *(each for each in self._find_ageing(now) if each != key)]
        answers = asyncio.create_task(self._ask(keys, now))
        for each in keys:
            _remember(self._begun, each, CachedQuery(now, answers))
        return self._begun[key]

    def _find_ageing(self, now: datetime) -> Iterator[K]:
        """Return the keys in use whose records end soon, of the oldest ones; drop the ended ones."""
        for key, look_up in list(islice(self._begun.items(), MAX_RENEWED)):
            if look_up.begun_at > now - self._ttl / 2:
                return
            if not look_up.answers.done():
                continue
            if look_up.begun_at <= now - self._ttl:
                del self._begun[key]
            elif look_up.is_used:
                yield key

    async def _ask(self, keys: Sequence[K], now: datetime) -> Mapping[K, V]:
        known: Mapping[K, V] = {}
        try:
            known = await self._asked((keys, now))
        finally:
            for key in keys:
                if key not in known:
                    self._begun.pop(key, None)
        return known

    async def _serve(self, asked: Sequence[tuple[Sequence[K], datetime]]) -> Sequence[Mapping[K, V]]:
        keys = list(dict.fromkeys(chain.from_iterable(keys for keys, _ in asked)))
        found = await self._ask_for(self._database, keys, max(now for _, now in asked))
        return [found] * len(asked)

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

"""Who is asking: the key that a request bears becomes an actor."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import structlog
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from app.domain.accounts import keys
from app.domain.accounts.queries import KnownKey, find_live_key
from app.domain.accounts.service import USED_EVERY, touch_key
from app.domain.kernel.clock import Clock
from app.domain.kernel.errors import Unauthenticated
from app.domain.kernel.unit import Actor

log = structlog.get_logger(__name__)

K = TypeVar("K")
V = TypeVar("V")

Identify = Callable[[Mapping[str, str]], Awaitable[Actor | None]]
"""Tells by the headers who asks; None where no key was sent. Raises `Unauthenticated` for a key that is not good."""

MAX_KEYS = 10_000
"""How many keys a process remembers; the one it learned first is forgotten first."""

NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class LookUp:
    """What the database says about a key, or is about to say: requests that come meanwhile wait for the same answer."""

    begun_at: datetime
    answer: asyncio.Task[KnownKey | None]


class Identity:
    """Resolves keys. A good one is remembered for `ttl_seconds`, so that is how long a revoked one still works."""

    def __init__(
        self, sessions: async_sessionmaker[AsyncSession], secret: bytes, clock: Clock, ttl_seconds: float
    ) -> None:
        self._sessions = sessions
        self._secret = secret
        self._clock = clock
        self._ttl = timedelta(seconds=ttl_seconds)
        self._look_ups: dict[bytes, LookUp] = {}
        self._used: dict[int, datetime] = {}
        self._notes: set[asyncio.Task[None]] = set()

    async def resolve(self, headers: Mapping[str, str]) -> Actor | None:
        """Return who bears the key in the headers, whose names are in lower case; None where there is no key.

        Raises `Unauthenticated` for a key that is not good. That it was used is noted later, at most once a minute.
        """
        text = _key_in(headers)
        if text is None:
            return None
        now = self._clock.now()
        key = await self._find(text, now)
        if key is None or (key.expires_at and key.expires_at <= now):
            raise Unauthenticated(reason="This key is unknown, expired or revoked, or its account is suspended.")
        return Actor(key.account_id, key.scopes, f"key:{key.id}", request_id())

    async def close(self) -> None:
        """Wait until every use that is being noted is written."""
        await asyncio.gather(*self._notes)

    async def _find(self, text: str, now: datetime) -> KnownKey | None:
        hash = keys.fingerprint(self._secret, text)
        look_up = self._look_ups.get(hash)
        # A clock that was set back makes nothing fresh.
        if look_up is None or not now - self._ttl < look_up.begun_at <= now:
            if not keys.has_form(text):
                raise Unauthenticated(reason="This is not a key: it was cut short or mistyped.")
            look_up = LookUp(now, asyncio.create_task(self._ask(hash, now)))
            _remember(self._look_ups, hash, look_up)
        return await asyncio.shield(look_up.answer)

    async def _ask(self, hash: bytes, now: datetime) -> KnownKey | None:
        known = None
        try:
            async with self._sessions() as session:
                known = await find_live_key(session, hash, now)
        finally:
            if known is None:
                self._look_ups.pop(hash, None)
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
            async with self._sessions.begin() as session:
                await touch_key(session, id, now)
        except Exception as cause:
            log.warning("key_use_not_noted", key_id=id, cause=type(cause).__name__)


def request_id() -> str | None:
    """Return the id that the request bears in the log."""
    return structlog.contextvars.get_contextvars().get("request_id")


def _key_in(headers: Mapping[str, str]) -> str | None:
    scheme, _, credentials = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return credentials.strip()
    if (key := headers.get("x-api-key")) is not None:
        return key.strip()
    if scheme:
        raise Unauthenticated(reason="The Authorization header holds no key.")
    return None


def _remember(known: dict[K, V], key: K, value: V) -> None:
    known.pop(key, None)
    known[key] = value
    if len(known) > MAX_KEYS:
        del known[next(iter(known))]

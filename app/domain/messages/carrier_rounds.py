"""Rounds of calls to carriers about rows of a table, which a walk through the messages adds."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import ClassVar, Generic, TypeVar

from app.db.engine import Database
from app.domain.carriers.carrier import Capabilities
from app.domain.kernel.clock import Clock
from app.domain.messages import walks
from app.domain.messages.carrier_calls import CarrierCalls

CONNECTIONS = 50
"""The number of connections that a round asks at the same time, chosen by chance: slow ones delay no other."""

LEASE = timedelta(minutes=5)
"""The time of a claim: a round takes less than two minutes."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CarrierRounds(Generic[T]):
    """Walks through the messages, and asks carriers about the rows of `TABLE` that are due, `T`.

    Each row has the key of its `carrier` and a time `due_at`. Safe to run concurrently.
    """

    TABLE: ClassVar[str]
    WALK: ClassVar[str]

    database: Database
    calls: CarrierCalls
    clock: Clock
    _running: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)

    async def run(self) -> bool:
        """Walk on, and ask each carrier about its rows, for a while; return True when more may be due.

        One round at a time asks.
        """
        if self._running.locked():
            return False
        async with self._running:
            keys, now = await self.calls.find_keys(self.is_able), self.clock.now()
            is_walking = await walks.walk(self.database.pool, self.TABLE, self.WALK, now, keys)
            free, ends_at = await self.calls.find_free(self.is_able), self.calls.find_end()
            due = await self.database.pool.fetch(_find_due(self.TABLE), free, self.clock.now())
            async with asyncio.TaskGroup() as asking:
                for row in due:
                    asking.create_task(self._ask_through(row["key"], ends_at))
            return is_walking or bool(due)

    async def due(self) -> bool:
        """Return whether messages are old enough for the walk, or a carrier must be asked."""
        now, keys = self.clock.now(), await self.calls.find_free(self.is_able)
        return await self.database.pool.ask(_is_due(self.TABLE), self.TABLE, now - walks.AGE, keys, now)

    @staticmethod
    def is_able(capabilities: Capabilities) -> bool:
        """Return whether a carrier can be asked."""
        raise NotImplementedError

    async def claim(self, key: str) -> Sequence[T]:
        """Claim rows of one connection that are due, for the time `LEASE`."""
        raise NotImplementedError

    async def ask(self, key: str, claimed: Sequence[T], ends_at: float) -> None:
        """Ask about claimed rows of one connection until `ends_at`, a time of the event loop, and store the outcome."""
        raise NotImplementedError

    async def _ask_through(self, key: str, ends_at: float) -> None:
        """Ask one carrier until none of its rows is due, it must rest, or the time of the round is over."""
        while claimed := await self.claim(key):
            await self.ask(key, claimed, ends_at)
            if self.calls.is_resting(key) or asyncio.get_running_loop().time() >= ends_at:
                return


def _is_due(table: str) -> str:
    return f"""
SELECT {walks.IS_BEHIND} OR EXISTS (SELECT FROM {table} WHERE carrier = ANY($3::text[]) AND due_at <= $4)
"""


def _find_due(table: str) -> str:
    return f"""
SELECT key FROM unnest($1::text[]) AS k(key)
WHERE EXISTS (SELECT FROM {table} WHERE carrier = key AND due_at <= $2) ORDER BY random() LIMIT {CONNECTIONS}
"""

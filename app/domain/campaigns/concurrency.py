"""Accept full batches of a campaign side by side, each in a transaction that locks the account last.

The texts of a batch are written before the account is locked, so that other sends of the account wait for its debit
alone. A batch is rolled back if another transaction has changed the account since the batch was read.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from app.db.engine import CONTENDED, TIMED_OUT, Connection, Pool, transaction
from app.db.rows import find
from app.domain.accounts import sql as accounts
from app.domain.campaigns import batches, enqueue, senders
from app.domain.campaigns.batches import Batch, Source
from app.domain.campaigns.rows import Attester
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.eligibility.facts import Sender

AT_ONCE = 2
"""The number of batches that are accepted at the same time."""

SECONDS = 0.2
"""The time after which no further batch is begun."""

MOST_SECONDS = 0.5
"""The age of a batch after which it waits for no lock: what waits for its rows would be ended by `deadlock_timeout`."""

PATIENCE = "100ms"
"""The wait for a lock: with `MOST_SECONDS`, less than `deadlock_timeout`."""

POOL_SECONDS = 1.0
"""The most time of a batch with its wait for a connection."""

LEAST_CONNECTIONS = 3
"""The least size of a pool for concurrent batches: two steps at the same time hold one connection each."""

REST_SECONDS = 1.0
"""The time for which the batches of an account that others change are left to `enqueue.accept_locked`."""

MOST_KEPT = 1000
"""The most resting accounts that are kept."""

SETTINGS = (
    "SET LOCAL synchronous_commit = off",
    f"SET LOCAL lock_timeout = '{PATIENCE}'",
    f"SET LOCAL statement_timeout = '{MOST_SECONDS}s'",
)
GIVES_WAY = (*TIMED_OUT, *CONTENDED)
"""Errors of a batch that waited for others, or took too long."""

FIND_VERSIONS = f"SELECT {accounts.version_of('$1')}, {accounts.OWN_VERSION}"


class BatchOutdated(Exception):
    """The account or the campaign of a batch is not as it was read, or may not send: the batch is to be rolled back."""


@dataclass(slots=True)
class StepBatches:
    """The batches that one step of a campaign accepts: `room` is the number of recipients that it may still read."""

    connection: Connection
    source: Source
    room: int
    now: datetime
    until: float
    unwritten: list[Batch] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    """The version that the account had before each one that a batch gave it."""
    is_ended: bool = False
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def read(self, acceptor: SendAcceptor) -> Batch | None:
        """Return the next full batch; None if there is none, or no room or time for one."""
        async with self._reading:
            if self.is_ended or self.room < batches.BATCH or asyncio.get_running_loop().time() > self.until:
                return None
            size, unwritten = batches.BATCH, self.unwritten
            batch = await batches.read(self.connection, acceptor, self.source, size, self.now, unwritten)
            if len(batch.texts) < size:
                self.is_ended = True
                return None
            self.room -= size
            unwritten.append(batch)
            return batch

    def is_as_read(self, batch: Batch, version: str) -> bool:
        """Return whether batches alone have changed the account since one was read, if it has a version now."""
        before: str | None = version
        while before and before != batch.version:
            before = self.versions.get(before)
        return before is not None


@dataclass(frozen=True, slots=True)
class ConcurrentAcceptance:
    """Accepts batches of campaigns; safe to use for several of them at once."""

    pool: Pool
    acceptor: SendAcceptor
    resting: dict[int, float] = field(default_factory=dict)
    """The time until which the batches of an account are left to `enqueue.accept_locked`."""

    async def accept(self, connection: Connection, source: Source, room: int, now: datetime) -> int:
        """Return how many of the next recipients, at most `room`, were decided about in full batches.

        They are read through a connection, and written through others. After none, the next recipients are those of
        `enqueue.accept_locked`, which finds the reason.
        """
        time = asyncio.get_running_loop().time()
        if self.pool.get_max_size() < LEAST_CONNECTIONS:
            return 0
        if room < batches.BATCH or self.resting.get(source.account_id, 0) > time:
            return 0
        step = StepBatches(connection, source, room, now, time + SECONDS)
        count = min(AT_ONCE, room // batches.BATCH)
        results = await asyncio.gather(*(self._accept_all(step) for _ in range(count)), return_exceptions=True)
        return sum(_raise_first(results))

    async def _accept_all(self, step: StepBatches) -> int:
        decided = 0
        try:
            while batch := await step.read(self.acceptor):
                async with asyncio.timeout(POOL_SECONDS), transaction(self.pool, *SETTINGS) as connection:
                    await self._accept(connection, step, batch)
                decided += len(batch.texts)
                step.unwritten.remove(batch)
        except (BatchOutdated, enqueue.RecipientsChanged, *GIVES_WAY):
            self._rest(step.source.account_id)
        finally:
            step.is_ended = True
        return decided

    async def _accept(self, connection: Connection, step: StepBatches, batch: Batch) -> None:
        account_id, campaign_id, _ = step.source
        attester = await find(connection, Attester, enqueue.FIND_ATTESTER, campaign_id)
        if attester is None:
            raise BatchOutdated
        begun = asyncio.get_running_loop().time()
        await enqueue.write(connection, batch.account, campaign_id, batch)
        if asyncio.get_running_loop().time() - begun > MOST_SECONDS:
            raise BatchOutdated
        account = await enqueue.lock_account(connection, account_id, PATIENCE)
        await self._check(connection, step, batch, account)
        if not await senders.may_send(connection, account_id, attester, step.now):
            raise BatchOutdated
        await enqueue.debit(connection, self.acceptor, account, campaign_id, batch)

    async def _check(self, connection: Connection, step: StepBatches, batch: Batch, account: Sender) -> None:
        """Raise `BatchOutdated` unless the account, which is locked, and its numbers are as they were read."""
        version, own = await connection.fetchrow(FIND_VERSIONS, account.id)
        if enqueue.is_closed(account) or batch.credits > account.balance or not step.is_as_read(batch, version):
            raise BatchOutdated
        if not await senders.are_active(connection, account.id, {each.sender for each in batch.texts}):
            raise BatchOutdated
        step.versions[own] = version

    def _rest(self, account_id: int) -> None:
        if len(self.resting) >= MOST_KEPT:
            self.resting.clear()
        self.resting[account_id] = asyncio.get_running_loop().time() + REST_SECONDS


def _raise_first(results: Iterable[int | BaseException]) -> Iterable[int]:
    for result in results:
        if isinstance(result, BaseException):
            raise result
        yield result

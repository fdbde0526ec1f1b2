"""Sends and the disk: a batch commits without waiting for it, and is answered when it is there."""

import asyncio
from typing import cast

import asyncpg
import pytest

from app.db.engine import Pool
from app.domain.kernel.errors import Unavailable
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.acceptor import FLUSH, SendAcceptor
from app.domain.messages.sending.acceptance import LOCK_TO_FLUSH_LATE
from app.services import Services
from tests.domain.messages.sends import hello
from tests.factories.billing import audit, balance_of, entries
from tests.factories.messages import states
from tests.factories.traps import VisitedPool, commit, durable, flushed_wal, written_wal
from tests.waiting import until, within


class Disk:
    """Holds up the flushes of a pool until a test lets them go on, or fails them."""

    def __init__(self, pool: Pool, fault: Exception | None = None) -> None:
        self.pool = VisitedPool(pool, self._visit)
        self.ready = asyncio.Event()
        self.waiting = 0
        self._fault = fault

    async def _visit(self, query: str, is_after: bool) -> None:
        if query != FLUSH or is_after:
            return
        if self._fault:
            raise self._fault
        self.waiting += 1
        await within("the test to let it go on", self.ready.wait())

    async def is_awaited(self, batches: int) -> None:
        await until(lambda: self.waiting == batches)

    def acceptor(self, services: Services) -> SendAcceptor:
        return SendAcceptor(cast(Pool, self.pool), services.clock, services.notify, services.connections)


async def test_a_send_is_answered_only_when_its_batch_is_on_the_disk_and_the_next_batch_does_not_wait(
    services: Services, actor: Actor, pool: Pool
) -> None:
    disk = Disk(pool)
    acceptor = disk.acceptor(services)

    first = asyncio.create_task(acceptor.accept(actor, hello()))
    await disk.is_awaited(1)
    second = asyncio.create_task(acceptor.accept(actor, hello()))
    await disk.is_awaited(2)
    before = await states(pool), await balance_of(pool, actor.account_id), first.done(), second.done()
    disk.ready.set()

    assert before == ([("pending", None)] * 2, 998, False, False)
    assert [(await each).credits_remaining for each in (first, second)] == [999, 998]
    await audit(pool)


@pytest.mark.parametrize(
    "fault",
    [
        asyncpg.ConnectionDoesNotExistError("connection was closed"),
        asyncpg.DeadlockDetectedError("deadlock detected"),
        asyncpg.LockNotAvailableError("canceling statement due to lock timeout"),
    ],
)
async def test_a_send_whose_batch_is_not_certain_to_be_on_the_disk_is_refused_and_not_decided_again(
    services: Services, actor: Actor, pool: Pool, fault: Exception
) -> None:
    losing = Disk(pool, fault).acceptor(services)

    with pytest.raises(Unavailable):
        await losing.accept(actor, hello(idempotency_key="order-1"))
    again = await services.acceptor.accept(actor, hello(idempotency_key="order-1"))

    assert (again.credits_remaining, again.replayed) == (999, True)
    assert await entries(pool) == [("debit", -1, 999)]


async def test_closing_waits_for_the_disk(services: Services, actor: Actor, pool: Pool) -> None:
    disk = Disk(pool)
    acceptor = disk.acceptor(services)
    sending = asyncio.create_task(acceptor.accept(actor, hello()))
    await disk.is_awaited(1)

    closing = asyncio.create_task(acceptor.close())
    await asyncio.sleep(0)
    was_done = closing.done()
    disk.ready.set()
    await within("it to close", closing)

    assert was_done is False
    assert (await sending).credits_remaining == 999


async def test_a_flush_writes_what_was_committed_without_waiting(actor: Actor, database_url: str) -> None:
    async with durable(database_url) as connection:
        first = await commit(connection, LOCK_TO_FLUSH_LATE, [actor.account_id], "1s")
        committed = await written_wal(connection)
        second = await commit(connection, FLUSH)
        flushed = await flushed_wal(connection)

    assert (first, second) == ("off", "on")
    assert flushed >= committed

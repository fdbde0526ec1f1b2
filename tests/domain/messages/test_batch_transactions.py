"""The transactions of batches of sends: one begins while the batch before it is decided, and none is left open."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import cast

import asyncpg
import pytest

from app.db.engine import Connection, Database, Pool, connect, is_lost
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.acceptor import SendAcceptor
from app.domain.messages.requests import Acceptance
from app.domain.messages.sending.acceptance import FIND_FACTS
from app.domain.messages.sending.transactions import BatchTransactions
from app.services import Services
from app.settings import Settings
from tests.domain.messages.sends import hello
from tests.factories.billing import audit
from tests.factories.carriers import add_connection
from tests.factories.contacts import CONTACTS
from tests.factories.numbers import add_number
from tests.factories.traps import VisitedPool, commit_begun, lose_connections, open_transactions
from tests.waiting import until, within


@pytest.fixture
async def small(settings: Settings) -> AsyncGenerator[Database]:
    """Provide a database with the fewest connections that a process may have."""
    assert settings.database_url
    database = await connect(settings.database_url, 2)
    yield database
    await database.close()


async def test_a_batch_that_needs_a_new_carrier_connection_is_decided_with_one_connection(
    services: Services, settings: Settings, actor: Actor, pool: Pool
) -> None:
    assert settings.database_url
    single = await connect(settings.database_url, 1)
    connections = replace(services.connections, pool=single.pool)
    await connections.refresh()
    await add_connection(pool, "second")
    other = await add_number(pool, actor.account_id, "+15009999999", carrier="second")
    acceptor = SendAcceptor(single.pool, services.clock, services.notify, connections)

    accepted = await within("the send", acceptor.accept(actor, hello(from_phone_number_id=other)))

    assert accepted.credits_remaining == 999
    assert connections.find("second")
    await acceptor.close()
    await single.close()


@pytest.mark.parametrize("sizes", [(5, 2, 2), (4, 2, 1), (2, 1, 1)])
async def test_the_next_transaction_takes_prepared_only_if_the_pool_has_connections_for_everybody(
    services: Services, settings: Settings, actor: Actor, pool: Pool, sizes: tuple[int, int, int]
) -> None:
    size, waiting, open = sizes
    later: list[asyncio.Task[Acceptance]] = []
    seen: list[int] = []

    async def visit(query: str, is_after: bool) -> None:
        """Have another send arrive while the batch of the first one is decided."""
        if query == FIND_FACTS and not is_after and not later:
            later.append(asyncio.create_task(acceptor.accept(actor, hello())))
            if open > 1:
                await until(partial(has_open_transactions, pool, open))
            seen.append(await open_transactions(pool))

    assert settings.database_url
    sized = await connect(settings.database_url, size)
    visited = cast(Pool, VisitedPool(sized.pool, visit))
    acceptor = SendAcceptor(visited, services.clock, services.notify, services.connections, waiting)

    first = await within("the first send", acceptor.accept(actor, hello()))
    second = await within("the second send", later[0])
    await acceptor.close()
    await sized.close()

    assert seen == [open]
    assert (first.credits_remaining, second.credits_remaining) == (999, 998)
    await audit(pool)


async def has_open_transactions(pool: Pool, count: int) -> bool:
    return await open_transactions(pool) == count


async def test_a_prepared_transaction_is_the_next_one_and_the_one_after_it_is_new(small: Database, pool: Pool) -> None:
    transactions = BatchTransactions(small.pool)
    transactions.prepare()
    await until(partial(open_transactions, pool))
    times = [datetime.now(UTC)]

    for _ in range(2):
        async with transactions.open(takes_prepared=True) as connection:
            times.append(await commit_begun(connection))

    assert times[1] < times[0] < times[2]


async def test_a_prepared_transaction_that_no_batch_needs_ends_and_its_connection_is_free(
    small: Database, pool: Pool
) -> None:
    transactions = BatchTransactions(small.pool)
    transactions.prepare()
    await until(partial(open_transactions, pool))

    await transactions.close()

    assert await open_transactions(pool) == 0
    async with asyncio.timeout(20), small.pool.acquire(), small.pool.acquire():
        pass


class Watched:
    """A pool that keeps the connections which were acquired."""

    def __init__(self, pool: Pool) -> None:
        self._pool, self.acquired = pool, list[Connection]()

    @asynccontextmanager
    async def acquire(self) -> AsyncGenerator[Connection]:
        async with self._pool.acquire() as connection:
            self.acquired.append(connection)
            yield connection


async def test_a_prepared_transaction_whose_connection_was_lost_is_replaced(small: Database, pool: Pool) -> None:
    watched = Watched(small.pool)
    transactions = BatchTransactions(cast(Pool, watched))
    transactions.prepare()
    await until(partial(has_open_transactions, pool, 1))
    await lose_connections(pool)
    await until(lambda: is_lost(watched.acquired[0]))
    lost_by = datetime.now(UTC)

    async with transactions.open(takes_prepared=True) as connection:
        begun = await commit_begun(connection)

    assert begun > lost_by


async def add_contact(transactions: BatchTransactions, account_id: int) -> None:
    """Add a contact in a transaction, and add it again, which fails."""
    async with transactions.open(takes_prepared=True) as connection:
        for _ in range(2):
            await CONTACTS.insert(connection, account_id=account_id, phone="+12025550143", source="api")


async def test_the_transaction_of_a_batch_that_fails_is_rolled_back(small: Database, pool: Pool, actor: Actor) -> None:
    with pytest.raises(asyncpg.UniqueViolationError):
        await add_contact(BatchTransactions(small.pool), actor.account_id)

    assert (await CONTACTS.count(pool), await open_transactions(pool)) == (0, 0)


async def test_a_transaction_that_could_not_be_prepared_is_raised_to_its_batch_alone(
    small: Database, actor: Actor
) -> None:
    transactions = BatchTransactions(small.pool)
    await small.close()
    transactions.prepare()

    for _ in range(2):
        with pytest.raises(asyncpg.InterfaceError):
            await add_contact(transactions, actor.account_id)
    await transactions.close()

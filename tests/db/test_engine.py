"""Connections, and how they are given back."""

import asyncio
from typing import Any

import asyncpg
import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from app.bootstrap import METADATA
from app.db import engine, migrate, schema
from app.db.claims import persist
from app.db.engine import UNREACHABLE, UNSTORABLE, Pool, connect, dial, is_unwritable, transaction
from app.domain.accounts.models import Account
from app.http.errors import translate
from app.services import Services
from app.settings import Settings
from tests.factories.messages import TOKEN_BUCKETS
from tests.waiting import until

pytestmark = pytest.mark.anyio

LIMIT = "SHOW idle_in_transaction_session_timeout"
IN_TRANSACTION = (
    "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND xact_start IS NOT NULL AND pid <> pg_backend_pid()"
)
ASLEEP = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
SORT = "SELECT current_setting('enable_sort'), pg_backend_pid()"
ADD = "INSERT INTO token_buckets (kind, name, free_at) VALUES ('number', $1::int::text, now())"


async def interrupt(pool: Pool) -> int:
    """Interrupt a block after its statement was prepared, before it is run; return the id of its server process."""
    pids: list[int] = []

    async def work() -> None:
        async with pool.acquire() as connection:
            lent: Any = connection
            pids.append(lent.get_server_pid())
            await lent._con._get_statement("SELECT count(*) FROM accounts", None)
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await work()
    return pids[0]


async def test_a_block_that_was_interrupted_leaves_no_transaction_open(services: Services, settings: Settings) -> None:
    pid = await interrupt(services.database.pool)

    other = await asyncpg.connect(settings.database_url)
    assert await other.fetchval(IN_TRANSACTION, pid) == 0
    await other.close()


async def test_the_connection_of_a_block_that_was_interrupted_is_used_again(services: Services) -> None:
    pool = services.database.pool
    pid = await interrupt(pool)

    async with pool.acquire() as connection:
        lent: Any = connection
        assert lent.get_server_pid() == pid
        assert await connection.fetchval("SELECT count(*) FROM accounts") == 0


async def test_a_setting_of_a_transaction_holds_until_its_end(services: Services) -> None:
    pool = services.database.pool
    async with transaction(pool, "SET LOCAL enable_sort = off") as connection:
        during, pid = await connection.fetchrow(SORT)

    async with pool.acquire() as again:
        assert await again.fetchrow(SORT) == ("on", pid)
    assert during == "off"


@pytest.mark.parametrize("problem", [ValueError, asyncio.CancelledError])
async def test_a_transaction_is_committed_unless_its_block_raises(
    services: Services, problem: type[BaseException]
) -> None:
    pool = services.database.pool

    async def add(number: int, problem: type[BaseException] | None = None) -> None:
        async with transaction(pool) as connection:
            await connection.execute(ADD, number)
            if problem:
                raise problem

    with pytest.raises(problem):
        await add(1, problem)
    await add(2)

    assert await TOKEN_BUCKETS.read(pool, "name") == ["2"]


async def test_a_transaction_whose_connection_ends_raises_the_error_of_its_statement(services: Services) -> None:
    with pytest.raises(asyncpg.PostgresConnectionError):
        async with transaction(services.database.pool) as connection:
            await connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")


async def test_a_transaction_that_is_canceled_as_it_begins_is_not_left_open(services: Services) -> None:
    pool = services.database.pool

    async def begin() -> None:
        async with transaction(pool, "SELECT pg_sleep(60)"):
            pass

    beginning = asyncio.create_task(begin())
    pid = await until(lambda: pool.fetchval(ASLEEP))
    beginning.cancel()
    with pytest.raises(asyncio.CancelledError):
        await beginning

    assert await pool.fetchval(IN_TRANSACTION, pid) == 0


@pytest.mark.parametrize(("scheme", "more"), [("postgresql", "&sslmode=disable"), ("postgres", "")])
async def test_an_address_may_be_whatever_postgresql_takes(settings: Settings, scheme: str, more: str) -> None:
    address = f"{settings.database_url}{more}".replace("postgresql:", f"{scheme}:", 1)

    await migrate.upgrade(address, METADATA)
    await schema.wait_for(address)
    database = await connect(address, 2)

    async with database.sessions() as session:
        assert await session.scalar(text("SELECT 1")) == 1
    await database.close()


@pytest.mark.parametrize(("statement", "value"), [("SELECT $1::int", "one"), ("SELECT $1::bigint", 2**70)])
async def test_a_value_that_cannot_be_written_does_not_look_like_a_database_that_is_away(
    services: Services, statement: str, value: object
) -> None:
    with pytest.raises(UNSTORABLE) as refused:
        await services.database.pool.fetchval(statement, value)

    assert not isinstance(refused.value, UNREACHABLE)
    assert is_unwritable(refused.value)


async def test_a_statement_of_a_session_with_a_value_that_cannot_be_written_is_not_tried_again(
    services: Services,
) -> None:
    tried: list[int] = []

    async def write() -> None:
        tried.append(1)
        async with services.database.sessions() as session:
            await session.execute(select(Account.id).where(Account.id == 2**70))

    with pytest.raises(DBAPIError) as refused:
        await persist(write, 10)

    assert tried == [1]
    assert is_unwritable(refused.value)
    assert str(translate(refused.value)) == "A value is too large or too small to be stored."


async def test_a_value_that_the_server_refuses_is_another_matter(services: Services) -> None:
    with pytest.raises(UNSTORABLE) as refused:
        await services.database.pool.fetchval("SELECT $1::text::int", "one")

    assert not is_unwritable(refused.value)


@pytest.mark.parametrize(("seconds", "shown"), [(0, "0"), (0.2, "200ms"), (0.2001, "201ms")])
async def test_only_statements_of_sessions_are_limited_in_time(settings: Settings, seconds: float, shown: str) -> None:
    database = await connect(settings.database_url or "", 2, seconds)

    async with database.sessions() as session:
        limited = await session.scalar(text("SHOW statement_timeout"))

    assert (limited, await database.pool.fetchval("SHOW statement_timeout")) == (shown, "0")
    await database.close()


async def test_a_transaction_of_a_process_that_is_stopped_is_ended_after_30_seconds(services: Services) -> None:
    async with services.database.sessions() as session:
        of_session = await session.scalar(text(LIMIT))

    assert (of_session, await services.database.pool.fetchval(LIMIT)) == ("30s", "30s")


async def test_a_connection_whose_opening_is_canceled_is_closed(settings: Settings) -> None:
    opened: list[asyncpg.Connection] = []

    class Canceled(asyncpg.Connection):
        async def execute(self, *_: Any, **__: Any) -> str:
            opened.append(self)
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await dial(settings.database_url, connection_class=Canceled)

    assert [each.is_closed() for each in opened] == [True]


async def driver_of(session: AsyncSession) -> Any:
    """Return the connection of a session."""
    return (await (await session.connection()).get_raw_connection()).driver_connection


@pytest.mark.parametrize("is_idle", [True, False])
async def test_a_session_gets_no_connection_that_the_server_has_ended(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, is_idle: bool
) -> None:
    monkeypatch.setattr(engine, "IDLE_SECONDS", 0.0 if is_idle else 60.0)
    database = await connect(settings.database_url or "", 1)
    async with database.sessions() as session:
        driver = await driver_of(session)
    await database.pool.fetchval("SELECT pg_terminate_backend($1)", driver.get_server_pid())
    await until(lambda: is_idle or driver.is_closed())

    async with database.sessions() as session:
        assert await session.scalar(text("SELECT pg_backend_pid()")) != driver.get_server_pid()
    await database.close()


async def test_a_connection_that_was_just_used_is_used_again_without_a_check(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "IDLE_SECONDS", 60.0)
    database, asked = await connect(settings.database_url or "", 1), list[str]()
    async with database.sessions() as session:
        (await driver_of(session)).add_query_logger(lambda record: asked.append(record.query))

    async with database.sessions() as session:
        await session.execute(text("SELECT 1"))

    await until(lambda: "ROLLBACK;" in asked)
    await database.close()
    assert asked == ["BEGIN;", "ROLLBACK;"]

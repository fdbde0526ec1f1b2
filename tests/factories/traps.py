"""Deliberate database failures: locked rows, missing columns, refused writes."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

import asyncpg
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from app.db.engine import Connection, Pool
from app.domain.kernel.unit_of_work import UnitOfWork
from tests.factories.tables import Rows
from tests.waiting import until

BLOCKED = """
SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()
"""
OPEN_TRANSACTIONS = """
SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in%' AND datname = current_database()
"""


@asynccontextmanager
async def locked(pool: Pool, rows: Rows, mode: str = "FOR UPDATE") -> AsyncGenerator[Connection]:
    """Lock rows within a block; yield the connection that holds the lock."""
    async with pool.acquire() as connection, connection.transaction():
        await rows.lock(connection, mode)
        yield connection


@asynccontextmanager
async def table_locked(pool: Pool, table: str, mode: str = "ACCESS EXCLUSIVE") -> AsyncGenerator[Connection]:
    """Lock a whole table within a block; yield the connection that holds the lock."""
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute(f"LOCK TABLE {table} IN {mode} MODE")
        yield connection


@asynccontextmanager
async def column_gone(pool: Pool, table: str, column: str) -> AsyncGenerator[None]:
    """Rename a column within a block, so that statements on it fail."""
    await pool.execute(f"ALTER TABLE {table} RENAME COLUMN {column} TO secret_detail")
    try:
        yield
    finally:
        await pool.execute(f"ALTER TABLE {table} RENAME COLUMN secret_detail TO {column}")


@asynccontextmanager
async def writes_refused(pool: Pool, table: str, unless: str) -> AsyncGenerator[None]:
    """Make the database refuse, within a block, rows that do not satisfy a condition."""
    await pool.execute(f"ALTER TABLE {table} ADD CONSTRAINT trap CHECK ({unless})")
    try:
        yield
    finally:
        await pool.execute(f"ALTER TABLE {table} DROP CONSTRAINT trap")


async def until_blocked(pool: Pool, statements: int = 1) -> None:
    """Wait until the given number of statements wait for locks."""

    async def are_blocked() -> bool:
        return await count_blocked(pool) >= statements

    await until(are_blocked, every=0.005)


async def count_blocked(pool: Pool) -> int:
    """Count the statements that wait for locks."""
    return await pool.fetchval(BLOCKED)


async def open_transactions(pool: Pool) -> int:
    """Count the idle open transactions."""
    return await pool.fetchval(OPEN_TRANSACTIONS)


async def are_idle(connection: Connection) -> bool:
    """Return whether no other connection to the database has a statement or a transaction in progress."""
    return await connection.fetchval(ARE_IDLE)


@asynccontextmanager
async def durable(database_url: str) -> AsyncGenerator[Connection]:
    """Connect within a block with commits that wait for the disk, as those of the tests' servers do not."""
    connection = await asyncpg.connect(database_url, server_settings={"synchronous_commit": "on"})
    try:
        yield connection
    finally:
        await connection.close()


async def commit(connection: Connection, query: str, *args: Any) -> str:
    """Run a statement in a transaction; return the setting of whether its commit waits for the disk."""
    async with connection.transaction():
        await connection.fetch(query, *args)
        return await connection.fetchval("SHOW synchronous_commit")


async def commit_begun(connection: Connection) -> datetime:
    """Commit the open transaction of a connection; return the time at which it began."""
    begun: datetime = await connection.fetchval("SELECT now()")
    await connection.execute("COMMIT")
    return begun


async def written_wal(connection: Connection) -> int:
    """Return the position up to which WAL has been written in memory."""
    return int(await connection.fetchval("SELECT pg_current_wal_insert_lsn() - '0/0'"))


async def flushed_wal(connection: Connection) -> int:
    """Return the position up to which WAL is on the disk."""
    return int(await connection.fetchval("SELECT pg_current_wal_flush_lsn() - '0/0'"))


async def lose_connections(pool: Pool) -> int:
    """End every connection of the service to the database, as a restart does, and wait for it; return their number."""
    return len(await pool.fetch(LOSE_CONNECTIONS, OBSERVER))


@asynccontextmanager
async def lost_at_commit(pool: Pool, table: str) -> AsyncGenerator[None]:
    """Make the database end, within a block, each connection that commits a change of a table."""
    await pool.execute(LOSE_AT_COMMIT.format(table=table))
    try:
        yield
    finally:
        await pool.execute(f"DROP TRIGGER trap ON {table}; DROP FUNCTION lose_connection")


class LosingPool:
    """A pool that loses one connection after a commit in the database and before its confirmation."""

    def __init__(self, pool: Pool) -> None:
        self._pool, self.lost = pool, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)

    @asynccontextmanager
    async def acquire(self) -> AsyncGenerator[Connection]:
        async with self._pool.acquire() as connection:
            yield connection
        if not self.lost:
            self.lost += 1
            raise asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")


class AwayPool:
    """A pool that has no connection to the database for the first call of each method."""

    def __init__(self, pool: Pool) -> None:
        self._pool, self.lost = pool, set[str]()

    def __getattr__(self, name: str) -> Any:
        if name in self.lost or name == "get_max_size":
            return getattr(self._pool, name)
        self.lost.add(name)
        raise ConnectionRefusedError(name)


class LosingSessions:
    """Sessions that lose a connection in the same way."""

    def __init__(self, sessions: async_sessionmaker[AsyncSession]) -> None:
        self._sessions, self.lost = sessions, 0

    def __call__(self) -> AsyncSession:
        return self._sessions()

    @asynccontextmanager
    async def begin(self) -> AsyncGenerator[AsyncSession]:
        async with self._sessions.begin() as session:
            yield session
        if not self.lost:
            self.lost += 1
            cause = Exception("lost")
            cause.__cause__ = asyncpg.ConnectionDoesNotExistError("connection was closed in the middle of operation")
            raise DBAPIError("COMMIT", None, cause)


ARE_IDLE = """
SELECT count(*) = 0 FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' AND state <> 'idle'
"""
OBSERVER = "observer"
"""The application name of the tests' own connections, which are not lost with those of the service."""

LOSE_CONNECTIONS = """
SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
  AND application_name <> $1
"""
LOSE_AT_COMMIT = """
CREATE FUNCTION lose_connection() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
CREATE CONSTRAINT TRIGGER trap AFTER UPDATE ON {table} DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION lose_connection()
"""


END_SESSION = "SELECT pg_terminate_backend(pg_backend_pid())"


async def end_session(connection: Connection, *_: object) -> None:
    """Have the server end a connection."""
    await connection.execute(END_SESSION)


async def end_session_of(unit: UnitOfWork, *_: object) -> None:
    """Have the server end the connection of a unit of work."""
    await unit.execute(text(END_SESSION))


Visit = Callable[[str, bool], Awaitable[None]]
"""Is called before a statement that returns rows, and with True after it."""

RELEASED = "; released"
"""Follows the last statement of a connection when it is back in the pool, after the end of its transaction."""


class VisitedPool:
    """A pool whose connections tell a test of each statement that returns rows, and of their release."""

    def __init__(self, pool: Pool, visit: Visit) -> None:
        self._pool, self._visit = pool, visit

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)

    @asynccontextmanager
    async def acquire(self) -> AsyncGenerator[Any]:
        async with self._pool.acquire() as connection:
            visited = _VisitedConnection(connection, self._visit)
            yield visited
        await self._visit(visited.last + RELEASED, True)


class _VisitedConnection:
    def __init__(self, connection: Connection, visit: Visit) -> None:
        self._connection, self._visit, self.last = connection, visit, ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def fetch(self, query: str, *args: Any) -> Any:
        self.last = query
        await self._visit(query, False)
        found = await self._connection.fetch(query, *args)
        await self._visit(query, True)
        return found

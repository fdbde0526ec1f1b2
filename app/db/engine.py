"""Connections to PostgreSQL: SQLAlchemy sessions for the models, an asyncpg pool for frequent statements."""

import math
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, partial
from time import monotonic
from typing import Any, Protocol, cast

import asyncpg
import orjson
from sqlalchemy import Dialect, event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DisconnectionError, InvalidatePoolError
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from app import keepalive
from app.db.questions import Questions
from app.fair_queue import FairQueue

CONNECT_SECONDS = 10
"""The timeout of a connection attempt, for all addresses of a host together."""

PATIENCE_SECONDS = 30.0
"""The time that a unit of work waits for a connection, the same as for a session."""

IDLE_SECONDS, USED_AT = 0.1, "used_at"
"""The time without use after which a connection of a session is checked, and the name of the time of its last use."""

UNSTORABLE = (asyncpg.DataError, asyncpg.IntegrityConstraintViolationError)
"""Errors of a statement with a value that cannot be stored."""

PLAN_ONCE = "SET LOCAL plan_cache_mode = force_generic_plan"
"""Has the statements of a transaction keep one plan, for arrays of any length.

PostgreSQL would plan each time, once statistics had made the plan that it keeps dearer than the first ones; to plan for
all partitions of a history takes longer than to find a few of its rows.
"""

PREFER_INDEXES = "SET enable_seqscan = off"
"""The frequent statements find their rows by an index; a plan from a time with few rows would scan all of them."""

CONTENDED = (asyncpg.LockNotAvailableError, asyncpg.TransactionRollbackError)
"""Errors of a statement because of a concurrent transaction; part of `UNREACHABLE`."""

TIMED_OUT = (TimeoutError, asyncpg.QueryCanceledError)
"""Errors of a statement that exceeded its time limit."""

REFUSED = (
    asyncpg.InvalidCatalogNameError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.ObjectNotInPrerequisiteStateError,
)
"""Errors of a refused connection: unknown database, no connections allowed, or wrong user or password."""

UNREACHABLE = (
    *REFUSED,
    asyncpg.PostgresConnectionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.OperatorInterventionError,
    asyncpg.TransactionRollbackError,
    asyncpg.LockNotAvailableError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
    TimeoutError,
)
"""Errors with causes outside of the statement; any other PostgreSQL error is a bug."""


ENDED = (
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.DatabaseDroppedError,
)
"""Errors of a connection that the server has ended, or that broke."""


def find_fault(cause: BaseException) -> BaseException:
    """Return asyncpg's exception from SQLAlchemy's wrapper."""
    wrapped = getattr(cause, "orig", None)
    return (wrapped.__cause__ or wrapped) if isinstance(wrapped, BaseException) else cause


def is_canceled(cause: BaseException) -> bool:
    """Return whether a statement was canceled, as one is that exceeds its time limit."""
    return isinstance(find_fault(cause), asyncpg.QueryCanceledError)


def is_unwritable(cause: BaseException) -> bool:
    """Return whether asyncpg could not encode a parameter in the type of its column.

    It then raises the same class as for a server error, without the fields that the server sends.
    """
    fault = find_fault(cause)
    return isinstance(fault, asyncpg.DataError) and getattr(fault, "severity", None) is None


def is_broken_off(cause: BaseException) -> bool:
    """Return whether asyncpg raised a client-side error, as for a lost or inconsistent connection."""
    fault = find_fault(cause)
    return isinstance(fault, asyncpg.InterfaceError | asyncpg.InternalClientError) and not isinstance(fault, ValueError)


def is_lost(connection: "Connection") -> bool:
    """Return whether a connection that was acquired from a pool is closed; then asyncpg has released it."""
    try:
        return cast(Any, connection).is_closed()
    except asyncpg.InterfaceError:
        return True


def is_ended(cause: BaseException) -> bool:
    """Return whether a statement failed because its connection had ended."""
    return isinstance(find_fault(cause), ENDED) or is_broken_off(cause)


def is_unplaced(cause: BaseException) -> bool:
    """Return whether a row was refused because no partition has been made for it yet."""
    fault = find_fault(cause)
    return isinstance(fault, asyncpg.CheckViolationError) and not getattr(fault, "constraint_name", None)


def violates(cause: BaseException, *constraints: str) -> bool:
    """Return whether a statement violated one of the constraints."""
    return getattr(find_fault(cause), "constraint_name", None) in constraints


class Connection(Protocol):
    """The used part of an asyncpg connection; asyncpg's own types are incomplete."""

    async def fetch(self, query: str, *args: Any) -> list[Any]:
        """Return all rows."""
        ...

    async def fetchrow(self, query: str, *args: Any) -> Any:
        """Return the first row, or None."""
        ...

    async def fetchval(self, query: str, *args: Any) -> Any:
        """Return the first column of the first row, or None."""
        ...

    async def execute(self, query: str, *args: Any) -> str:
        """Run a statement and return its command tag."""
        ...

    def transaction(self) -> AbstractAsyncContextManager[Any]:
        """Open a transaction, committed unless the block raises."""
        ...


class Pool(Protocol):
    """The used part of an asyncpg pool."""

    def acquire(self) -> AbstractAsyncContextManager[Connection]:
        """Acquire a connection for a block."""
        ...

    async def fetch(self, query: str, *args: Any) -> list[Any]:
        """Return all rows of a statement in its own transaction."""
        ...

    async def fetchrow(self, query: str, *args: Any) -> Any:
        """Return the first row, or None."""
        ...

    async def fetchval(self, query: str, *args: Any) -> Any:
        """Return the first column of the first row, or None."""
        ...

    async def ask(self, query: str, *args: Any) -> Any:
        """Return the one value that a statement selects; those asked at the same time are one statement."""
        ...

    async def execute(self, query: str, *args: Any) -> str:
        """Run a statement in its own transaction."""
        ...

    def get_max_size(self) -> int:
        """Return the most connections."""
        ...

    async def close(self) -> None:
        """Close every connection after its release."""
        ...


@asynccontextmanager
async def transaction(pool: Pool, *settings: str) -> AsyncGenerator[Connection]:
    """Open a transaction on a connection of the pool, committed unless the block raises; it has no savepoints.

    `settings` are `SET LOCAL` statements, in one round trip with the first.
    """
    async with pool.acquire() as connection:
        try:
            await connection.execute("; ".join(["BEGIN", *settings]))
            yield connection
        except BaseException:
            with suppress(*UNREACHABLE):
                await connection.execute("ROLLBACK")
            raise
        await connection.execute("COMMIT")


class Sessions(async_sessionmaker[AsyncSession]):
    """Opens SQLAlchemy sessions. `turns` allocates connections of their pool to accounts, none of which gets all."""

    def __init__(self, engine: AsyncEngine, connections: int) -> None:
        super().__init__(engine, expire_on_commit=False)
        self.turns = FairQueue(connections, connections - max(1, connections // 4), PATIENCE_SECONDS)


@dataclass(frozen=True, slots=True)
class Database:
    """One database: `sessions` opens SQLAlchemy sessions, `pool` provides asyncpg connections."""

    engine: AsyncEngine
    sessions: Sessions
    pool: Pool

    async def close(self) -> None:
        """Close every connection."""
        await self.pool.close()
        await self.engine.dispose()


def _to_json(value: object) -> str:
    return orjson.dumps(value).decode()


async def connect(url: str, size: int, statement_seconds: float = 0) -> Database:
    """Connect to a `postgresql://` address with at most twice `size` connections.

    A statement of a session is canceled after `statement_seconds`, unless that is 0; one of the pool never is.
    """
    engine = open_engine(
        url,
        statement_seconds,
        pool_size=size,
        max_overflow=0,
        hide_parameters=True,
        json_serializer=_to_json,
        json_deserializer=orjson.loads,
    )
    pool = _LendingPool(
        url,
        min_size=1,
        max_size=size,
        max_queries=50_000,
        max_inactive_connection_lifetime=300.0,
        connect=dial,
        init=_prepare,
        reset=_keep,
        loop=None,
        connection_class=asyncpg.Connection,
        record_class=asyncpg.Record,
    )
    return Database(engine, Sessions(engine, size), cast(Pool, await pool))


def open_engine(url: str, statement_seconds: float = 0, **options: Any) -> AsyncEngine:
    """Return an engine for a libpq URL, which allows options such as `sslmode` that SQLAlchemy's URLs do not."""
    creator = partial(dial, url, statement_seconds=statement_seconds)
    engine = create_async_engine("postgresql+asyncpg://", async_creator=creator, **options)
    event.listen(engine.sync_engine, "checkin", _note_use)
    event.listen(engine.sync_engine, "checkout", partial(_check, engine.dialect))
    return engine


def _note_use(_: object, record: ConnectionPoolEntry) -> None:
    record.info[USED_AT] = monotonic()


def _check(dialect: Dialect, connection: DBAPIConnection, record: ConnectionPoolEntry, _: object) -> None:
    """Have a closed connection replaced, and all of them if one that was idle does not answer.

    The check of SQLAlchemy, `pool_pre_ping`, takes three round trips each time.
    """
    driver: Any = record.driver_connection
    if driver.is_closed():
        raise DisconnectionError
    if monotonic() - record.info.get(USED_AT, math.inf) < IDLE_SECONDS:
        return
    try:
        dialect.do_ping(connection)
    except Exception as cause:
        raise InvalidatePoolError from cause


async def dial(url: str, *, statement_seconds: float = 0, **options: Any) -> Any:
    """Open a connection within `CONNECT_SECONDS`; both sides detect a vanished peer, the server also a stopped one.

    Statements are canceled after `statement_seconds`, unless that is 0.
    """
    connection: Any = await asyncpg.connect(url, **options, timeout=CONNECT_SECONDS)
    try:
        await connection.execute(f"{PREFER_INDEXES}; {_END_IDLE}")
        if statement_seconds:
            await connection.execute(f"SET statement_timeout = {math.ceil(1000 * statement_seconds)}")
        transport = connection._transport  # noqa: SLF001 - asyncpg has no public name for it
        if keepalive.watch(transport.get_extra_info("socket"), keepalive.SERVERS):
            await connection.execute(_WATCH_CLIENT)
    except BaseException:  # nobody would close a connection whose opening is canceled
        connection.terminate()
        raise
    return connection


# Not as startup parameters: PgBouncer refuses unknown ones. The locks of a process that is stopped in the middle of a
# transaction hold up the others until it goes on, or its transaction is ended.
_END_IDLE = f"SET idle_in_transaction_session_timeout = '{keepalive.VANISHED_SECONDS}s'"
_WATCH_CLIENT = f"""
SET tcp_keepalives_idle = {keepalive.IDLE_SECONDS}; SET tcp_keepalives_interval = {keepalive.INTERVAL_SECONDS};
SET tcp_keepalives_count = {keepalive.PROBES}; SET tcp_user_timeout = '{keepalive.VANISHED_SECONDS}s'
"""


_IS_INTERRUPTED: ContextVar[bool] = ContextVar("is_interrupted", default=False)


class _LendingPool(asyncpg.Pool):
    @cached_property
    def ask(self) -> Callable[..., Awaitable[Any]]:
        """Return the function that combines questions."""
        return Questions(self._fetch_planned, self.fetchval).ask

    async def _fetch_planned(self, query: str, *args: Any) -> Any:
        """Return the first row of a statement that keeps one plan: to plan a long one takes ten times as long."""
        async with self.acquire() as connection:
            await connection.execute(f"BEGIN READ ONLY; {PLAN_ONCE}")
            try:
                return await connection.fetchrow(query, *args)
            finally:
                await connection.execute("ROLLBACK")

    async def release(self, connection: object, *, timeout: float | None = None) -> None:  # noqa: ASYNC109 - as asyncpg has it
        """Release a connection, and mark whether the block raised."""
        _IS_INTERRUPTED.set(sys.exception() is not None)
        await super().release(connection, timeout=timeout)


async def _keep(connection: asyncpg.Connection) -> None:
    """Release a connection without a reset, since no statement changes session state.

    A block interrupted while a statement was prepared may have begun a transaction that asyncpg does not know; any
    statement ends it.
    """
    if _IS_INTERRUPTED.get():
        await connection.execute("SELECT 1")


def _to_jsonb(value: object) -> bytes:
    return b"\x01" + orjson.dumps(value)


def _from_jsonb(raw: bytes) -> Any:
    return orjson.loads(raw[1:])


async def _prepare(connection: asyncpg.Connection) -> None:
    """Translate JSON."""
    await connection.set_type_codec(
        "jsonb",
        schema="pg_catalog",
        encoder=_to_jsonb,
        decoder=_from_jsonb,
        format="binary",
    )
    await connection.set_type_codec(
        "json", schema="pg_catalog", encoder=orjson.dumps, decoder=orjson.loads, format="binary"
    )

"""Connections to PostgreSQL: sessions for the models, a raw pool for hot statements."""

import sys
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, cast

import asyncpg
import orjson
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine

from app import keepalive
from app.fair_queue import FairQueue

CONNECT_SECONDS = 10
"""How long a connection may take to be made, all addresses of a host together."""

PATIENCE_SECONDS = 30.0
"""How long a unit of work waits for a connection, as long as a session does."""

UNSTORABLE = (asyncpg.DataError, asyncpg.IntegrityConstraintViolationError)
"""What a statement raises when a value of its own cannot be kept."""

CONTENDED = (asyncpg.LockNotAvailableError, asyncpg.TransactionRollbackError)
"""What a statement raises because another transaction is in its way; it is among what `UNREACHABLE` names."""

REFUSED = (
    asyncpg.InvalidCatalogNameError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.ObjectNotInPrerequisiteStateError,
)
"""What a connection is refused for: there is no such database, it takes none, or no such user with that password."""

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
"""What a statement raises for reasons that are not its own; any other error of PostgreSQL is a defect of ours."""


def find_fault(cause: BaseException) -> BaseException:
    """Return what asyncpg raised, where SQLAlchemy has wrapped it."""
    wrapped = getattr(cause, "orig", None)
    return (wrapped.__cause__ or wrapped) if isinstance(wrapped, BaseException) else cause


def is_unwritable(cause: BaseException) -> bool:
    """Tell whether a statement was given a value that asyncpg could not write as its column takes it.

    It raises the class of the server's errors then, without the fields that the server sends.
    """
    fault = find_fault(cause)
    return isinstance(fault, asyncpg.DataError) and getattr(fault, "severity", None) is None


def is_broken_off(cause: BaseException) -> bool:
    """Tell whether asyncpg gave up on its own side, as it does on a connection that is lost or out of step."""
    fault = find_fault(cause)
    return isinstance(fault, asyncpg.InterfaceError | asyncpg.InternalClientError) and not isinstance(fault, ValueError)


class Connection(Protocol):
    """An asyncpg connection, as far as the hot statements need it; asyncpg's own types are partly unknown."""

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
        """Open a transaction, committed when the block ends well."""
        ...


class Pool(Protocol):
    """An asyncpg pool, as far as the hot statements need it."""

    def acquire(self) -> AbstractAsyncContextManager[Connection]:
        """Lend a connection for a block."""
        ...

    async def fetch(self, query: str, *args: Any) -> list[Any]:
        """Return all rows of a statement that is a transaction of its own."""
        ...

    async def fetchrow(self, query: str, *args: Any) -> Any:
        """Return the first row, or None."""
        ...

    async def fetchval(self, query: str, *args: Any) -> Any:
        """Return the first column of the first row, or None."""
        ...

    async def execute(self, query: str, *args: Any) -> str:
        """Run a statement that is a transaction of its own."""
        ...

    async def close(self) -> None:
        """Close every connection, once it is given back."""
        ...


class Sessions(async_sessionmaker[AsyncSession]):
    """Opens SQLAlchemy sessions. `turns` lends the connections of their pool to accounts, none of which gets all."""

    def __init__(self, engine: AsyncEngine, connections: int) -> None:
        super().__init__(engine, expire_on_commit=False)
        self.turns = FairQueue(connections, connections - max(1, connections // 4), PATIENCE_SECONDS)


@dataclass(frozen=True, slots=True)
class Database:
    """One database: `sessions` opens SQLAlchemy sessions, `pool` lends asyncpg connections."""

    engine: AsyncEngine
    sessions: Sessions
    pool: Pool

    async def close(self) -> None:
        """Close every connection."""
        await self.pool.close()
        await self.engine.dispose()


async def connect(url: str, size: int) -> Database:
    """Connect to a `postgresql://` address with at most twice `size` connections."""
    engine = open_engine(
        url,
        pool_size=size,
        max_overflow=0,
        pool_pre_ping=True,
        hide_parameters=True,
        json_serializer=lambda value: orjson.dumps(value).decode(),
        json_deserializer=orjson.loads,
    )
    pool = _LendingPool(
        url,
        min_size=1,
        max_size=size,
        max_queries=50_000,
        max_inactive_connection_lifetime=300.0,
        connect=dial,
        init=_speak_json,
        reset=_keep,
        loop=None,
        connection_class=asyncpg.Connection,
        record_class=asyncpg.Record,
    )
    return Database(engine, Sessions(engine, size), cast(Pool, await pool))


def open_engine(url: str, **options: Any) -> AsyncEngine:
    """Return an engine for an address as PostgreSQL takes it, such as one with `sslmode`; SQLAlchemy takes fewer."""
    return create_async_engine("postgresql+asyncpg://", async_creator=partial(dial, url), **options)


async def dial(url: str, **options: Any) -> Any:
    """Open a connection within `CONNECT_SECONDS`; each side gives it up when the other has vanished."""
    connection: Any = await asyncpg.connect(url, **options, timeout=CONNECT_SECONDS)
    if keepalive.watch(connection._transport.get_extra_info("socket"), keepalive.SERVERS):
        await connection.execute(_WATCH_CLIENT)
    return connection


# Not among the parameters of the connection: PgBouncer refuses connections with parameters that it does not know.
_WATCH_CLIENT = f"""
SET tcp_keepalives_idle = {keepalive.IDLE_SECONDS}; SET tcp_keepalives_interval = {keepalive.INTERVAL_SECONDS};
SET tcp_keepalives_count = {keepalive.PROBES}; SET tcp_user_timeout = '{keepalive.VANISHED_SECONDS}s'
"""


_IS_INTERRUPTED: ContextVar[bool] = ContextVar("is_interrupted", default=False)


class _LendingPool(asyncpg.Pool):
    async def release(self, connection: Any, *, timeout: float | None = None) -> None:  # noqa: ASYNC109 - as asyncpg has it
        """Give a connection back, from a block that ended or that something interrupted."""
        _IS_INTERRUPTED.set(sys.exception() is not None)
        await super().release(connection, timeout=timeout)


async def _keep(connection: Any) -> None:
    """Give a connection back as it is: no statement of ours changes a session, so resetting it costs for nothing.

    A block that was interrupted while a statement was prepared has begun a transaction that asyncpg does not know of;
    any statement ends it.
    """
    if _IS_INTERRUPTED.get():
        await connection.execute("SELECT 1")


async def _speak_json(connection: Any) -> None:
    await connection.set_type_codec(
        "jsonb",
        schema="pg_catalog",
        encoder=lambda value: b"\x01" + orjson.dumps(value),
        decoder=lambda raw: orjson.loads(raw[1:]),
        format="binary",
    )
    await connection.set_type_codec(
        "json", schema="pg_catalog", encoder=orjson.dumps, decoder=orjson.loads, format="binary"
    )

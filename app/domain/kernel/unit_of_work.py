"""One transaction on behalf of one actor."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Executable, Result, Row, Select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from app.db import reading
from app.db.engine import Sessions, is_canceled
from app.domain.kernel.clock import Clock

T = TypeVar("T")
Parameters = Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""The parameters of a statement, or of each of its repetitions."""


SET_TIMEOUT = text("SELECT set_config('statement_timeout', :milliseconds, true)")

Notify = Callable[[str], None]
"""Wakes the workers of a topic, such as `messages`; their work is rows in the database."""


@dataclass(slots=True)  # not frozen: `__init__` would take several times as long, at each request
class Actor:
    """The caller of an operation and its scopes. `label` identifies it in the ledger and in consent records.

    `user_id` is set for a signed-in user and for an application that the user connected, `grant_id` for an application,
    `key_id` for an API key.
    """

    account_id: int
    scopes: frozenset[str]
    label: str = "system"
    request_id: str | None = None
    user_id: int | None = None
    grant_id: int | None = None
    key_id: int | None = None
    session_id: int | None = None


@dataclass(slots=True)
class UnitOfWork:
    """The reads, writes and notifications of one transaction.

    Sibling GraphQL resolvers run at the same time and share the session, which only one may use at
    once; every statement therefore passes through this class, and waits its turn here. The session
    is opened by the first statement: an operation that needs none costs none. Accounts get the
    connections in turns; without a free one `TimeoutError` is raised.

    With `reads_alone`, asyncpg runs what `rows_apart` reads, and no transaction begins for it.
    """

    sessions: Sessions
    actor: Actor
    clock: Clock
    topics: set[str] = field(default_factory=set)
    reads_alone: bool = False
    _session: AsyncSession | None = None
    _connection: AsyncConnection | None = None
    _connected_as: int | None = None
    _has_written: bool = False
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def session(self) -> AsyncSession:
        """Return the session, opened at its first use."""
        if self._session is None:
            self._session = self.sessions()
        return self._session

    @property
    def has_written(self) -> bool:
        """Return whether the transaction has written something."""
        return self._has_written

    async def all(self, statement: Select[T]) -> Sequence[T]:
        """Return the first column of every row."""
        async with self._turn:
            session = await self._connect()
            return (await session.scalars(statement)).all()

    async def one(self, statement: Select[T]) -> T | None:
        """Return the first column of the only row, or None; more than one row raises."""
        async with self._turn:
            session = await self._connect()
            return (await session.scalars(statement)).one_or_none()

    async def rows(self, statement: Select[*tuple[Any, ...]]) -> Sequence[Row[*tuple[Any, ...]]]:
        """Return whole rows."""
        async with self._turn:
            session = await self._connect()
            return (await session.execute(statement)).all()

    async def rows_apart(
        self, statement: Select[*tuple[Any, ...]], parameters: Mapping[str, Any] | None = None
    ) -> Sequence[Sequence[Any]]:
        """Return whole rows with the columns of a class in place of its objects, which the session would keep.

        The statement locks nothing.
        """
        async with self._turn:
            session = await self._connect()
            if session.new or session.dirty or session.deleted:
                await session.flush()
            if self._connection is None:
                self._connection = await session.connection()
            if self.reads_alone:
                return await reading.fetch(self._connection, statement, parameters)
            return (await self._connection.execute(statement, parameters)).all()

    async def try_within(
        self, seconds: float, statement: Executable, parameters: Parameters | None = None
    ) -> Sequence[Row[*tuple[Any, ...]]] | None:
        """Return the rows of a statement that only reads, or None where it takes longer than `seconds`."""
        async with self._turn:
            session = await self._connect()
            attempt = await session.begin_nested()
            try:
                await session.execute(SET_TIMEOUT, {"milliseconds": str(round(1000 * seconds))})
                return (await session.execute(statement, parameters)).all()
            except DBAPIError as fault:
                if not is_canceled(fault):
                    raise
                return None
            finally:
                await attempt.rollback()

    async def execute(self, statement: Executable, parameters: Parameters | None = None) -> Result[Any]:
        """Run a statement other than a plain SELECT."""
        self._has_written = True
        async with self._turn:
            session = await self._connect()
            return await session.execute(statement, parameters)

    async def save(self, *rows: object) -> None:
        """Insert or update rows and flush, so that their ids and defaults are known."""
        self._has_written = True
        async with self._turn:
            session = await self._connect()
            session.add_all(rows)
            await session.flush()

    async def delete(self, row: object) -> None:
        """Delete a row."""
        self._has_written = True
        async with self._turn:
            session = await self._connect()
            await session.delete(row)
            await session.flush()

    def add(self, row: object) -> None:
        """Insert a row with the next statement that writes, or at the commit."""
        self.session.add(row)
        self._has_written = True

    def notify(self, topic: str) -> None:
        """Wake the workers of a topic after the commit."""
        self.topics.add(topic)

    async def pause(self) -> None:
        """End the transaction and release the connection before a slow call; the next statement begins another.

        A unit that has already written something keeps its transaction until the end.
        """
        if self._session is not None and not self._has_written:
            async with self._turn:
                await self._session.commit()
                self._disconnect()

    async def close(self, *, commit: bool) -> None:
        """End the transaction and give the connection back."""
        if self._session is None:
            return
        try:
            async with self._turn, self._session as session:
                if commit and (session.new or session.dirty):
                    await self._connect()
                await (session.commit() if commit else session.rollback())
        finally:
            self._disconnect()

    async def _connect(self) -> AsyncSession:
        """Return the session, once the account has its turn at a connection, which it keeps until `_disconnect`."""
        if self._connected_as is None:
            account_id = self.actor.account_id
            await self.sessions.turns.take(account_id)
            self._connected_as = account_id
        return self.session

    def _disconnect(self) -> None:
        self._connection = None
        if self._connected_as is not None:
            self.sessions.turns.leave(self._connected_as)
            self._connected_as = None


@asynccontextmanager
async def open_unit(sessions: Sessions, actor: Actor, clock: Clock, notify: Notify) -> AsyncGenerator[UnitOfWork]:
    """Open a unit; commit and notify at the end of the block, or roll back after an exception."""
    unit = UnitOfWork(sessions, actor, clock)
    try:
        yield unit
    except BaseException:
        await unit.close(commit=False)
        raise
    await unit.close(commit=True)
    for topic in unit.topics:
        notify(topic)

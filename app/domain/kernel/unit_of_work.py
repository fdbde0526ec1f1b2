"""One transaction on behalf of one actor."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Executable, Result, Row, Select
from sqlalchemy.ext.asyncio import AsyncSession

from app.db.engine import Sessions
from app.domain.kernel.clock import Clock

T = TypeVar("T")

Notify = Callable[[str], None]
"""Wakes the workers that watch a topic, such as `messages`; what they are to do stands in the database."""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who is asking, and what they may ask for. `label` names them in ledgers and consent records.

    `user_id` is set where a person asks, by signing in or through an application that they allowed; `grant_id` where
    it is an application, `key_id` where it is who holds a key.
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
    """What is read and written within one transaction.

    Sibling GraphQL resolvers run at the same time and share the session, which only one may use at
    once; every statement therefore passes through this class, and waits its turn here. The session
    is opened by the first statement: an operation that needs none costs none. Accounts are lent the
    connections in turns, and raise `TimeoutError` where none comes free.
    """

    sessions: Sessions
    actor: Actor
    clock: Clock
    topics: set[str] = field(default_factory=set[str])
    _session: AsyncSession | None = None
    _connected_as: int | None = None
    _has_written: bool = False
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def session(self) -> AsyncSession:
        """Return the session, opened at its first use."""
        if self._session is None:
            self._session = self.sessions()
        return self._session

    async def all(self, statement: Select[T]) -> Sequence[T]:
        """Return the first column of every row."""
        async with self._turn:
            session = await self._connect()
            return (await session.scalars(statement)).all()

    async def one(self, statement: Select[T]) -> T | None:
        """Return the first column of the only row, or None; more than one row is a defect."""
        async with self._turn:
            session = await self._connect()
            return (await session.scalars(statement)).one_or_none()

    async def rows(self, statement: Select[*tuple[Any, ...]]) -> Sequence[Row[*tuple[Any, ...]]]:
        """Return whole rows."""
        async with self._turn:
            session = await self._connect()
            return (await session.execute(statement)).all()

    async def execute(self, statement: Executable, parameters: Any = None) -> Result[Any]:
        """Run a statement that is not a plain selection."""
        self._has_written = True
        async with self._turn:
            session = await self._connect()
            return await session.execute(statement, parameters)

    async def save(self, *rows: object) -> None:
        """Insert rows, or write what changed in them, now: their ids and defaults are known after it."""
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
        """Wake the workers that watch a topic, once the transaction is committed."""
        self.topics.add(topic)

    async def pause(self) -> None:
        """End the transaction before something slow, and give the connection back; the next statement begins another.

        Where something was written already, only the end of the unit commits it.
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
        if self._connected_as is not None:
            self.sessions.turns.leave(self._connected_as)
            self._connected_as = None


@asynccontextmanager
async def open_unit(sessions: Sessions, actor: Actor, clock: Clock, notify: Notify) -> AsyncGenerator[UnitOfWork]:
    """Open a unit; commit and ring when the block ends well, roll back when it does not."""
    unit = UnitOfWork(sessions, actor, clock)
    try:
        yield unit
    except BaseException:
        await unit.close(commit=False)
        raise
    await unit.close(commit=True)
    for topic in unit.topics:
        notify(topic)

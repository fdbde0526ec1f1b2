"""Claims of rows that survive a lost connection."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

from sqlalchemy.exc import DBAPIError

from app.db.engine import UNREACHABLE, Connection, Pool, transaction
from app.db.rows import fetch

S = TypeVar("S")
T = TypeVar("T")

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0


async def claim(
    pool: Pool,
    shape: Callable[..., T],
    statement: str,
    *arguments: Any,
    give_back: Callable[[Sequence[T]], Awaitable[object]],
    seconds: float,
) -> Sequence[T]:
    """Return the rows that a statement claims, as `fetch` does; see `claim_in`."""

    async def read(connection: Connection) -> Sequence[T]:
        return await fetch(connection, shape, statement, *arguments)

    return await claim_in(transaction(pool), read, give_back=give_back, seconds=seconds)


async def claim_in(
    transaction: AbstractAsyncContextManager[S],
    read: Callable[[S], Awaitable[T]],
    *,
    give_back: Callable[[T], Awaitable[object]],
    seconds: float,
) -> T:
    """Return the result of `read`, which claims rows within a transaction.

    When the connection is lost during the commit, the outcome is unknown: `give_back` is called with the result, with
    retries for up to `seconds`, and the error is raised.
    """
    claimed: T | None = None
    try:
        async with transaction as session:
            claimed = await read(session)
    except (*UNREACHABLE, DBAPIError) as problem:
        if claimed and _is_away(problem):
            found = claimed
            await persist(lambda: give_back(found), seconds)
        raise
    return claimed


async def persist(attempt: Callable[[], Awaitable[T]], seconds: float) -> T:
    """Return the result of an attempt; retry for up to `seconds` while the database is unreachable.

    The attempt must be idempotent, because it may have succeeded before the connection was lost.
    """
    pause, deadline = FIRST_PAUSE, asyncio.get_running_loop().time() + seconds
    while True:
        try:
            return await attempt()
        except (*UNREACHABLE, DBAPIError) as problem:
            if not _is_away(problem) or asyncio.get_running_loop().time() + pause > deadline:
                raise
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


def _is_away(problem: BaseException) -> bool:
    if isinstance(problem, DBAPIError):
        return problem.orig is not None and isinstance(problem.orig.__cause__, UNREACHABLE)
    return True

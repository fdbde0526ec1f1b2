"""Claims that outlive a lost connection: what was taken is known, and what came of it recorded."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from sqlalchemy.exc import DBAPIError

from app.db.engine import UNREACHABLE, Pool

T = TypeVar("T")

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0


async def claim(
    pool: Pool, statement: str, *arguments: Any, give_back: Callable[[Sequence[Any]], Awaitable[object]], seconds: float
) -> Sequence[Any]:
    """Return the rows that a statement claims.

    They are read before the commit. Where the connection is lost during the commit, they may be claimed or not:
    `give_back` is called with them, again for up to `seconds`, and the error is raised.
    """
    rows: Sequence[Any] = ()
    try:
        async with pool.acquire() as connection, connection.transaction():
            rows = await connection.fetch(statement, *arguments)
    except UNREACHABLE:
        if rows:
            await persist(lambda: give_back(rows), seconds)
        raise
    return rows


async def persist(attempt: Callable[[], Awaitable[T]], seconds: float) -> T:
    """Return what an attempt returns; repeat it for up to `seconds` while the database cannot be reached.

    A connection that is lost may have done its work: the attempt must change nothing when it is made again.
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

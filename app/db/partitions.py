"""Partitions of histories: ranges of ids, made ahead of need, and dropped when none of their rows is kept any more."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import asyncpg

from app.db.engine import CONTENDED, Connection, Pool
from app.db.rows import fetch

RANGE = 10_000_000
"""The number of ids of a partition."""

AHEAD = 2 * RANGE
"""The number of ids after the last one used for which there are partitions."""

LOCK = 7_236_453
"""Key of the advisory lock that lets one process at a time make or drop partitions."""

BEGIN = f"""
SELECT pg_try_advisory_xact_lock({LOCK}), set_config('lock_timeout', '200ms', true),
  set_config('statement_timeout', '2s', true)
"""
"""Four waits for a lock take less than `deadlock_timeout`, so that PostgreSQL ends no other transaction for them."""

FIND = r"""
SELECT c.relname::text AS name, p.relname::text AS table,
  coalesce((regexp_match(bounds, 'FROM \(''(\d+)''\)'))[1]::bigint, 0) AS lower,
  (regexp_match(bounds, 'TO \(''(\d+)''\)'))[1]::bigint AS upper
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
CROSS JOIN pg_get_expr(c.relpartbound, c.oid) AS bounds
WHERE i.inhparent = ANY($1::text[]::regclass[]) ORDER BY upper
"""

# The new table is empty, so that attaching it reads nothing; unlike `PARTITION OF` it blocks no query of the parent.
MAKE = """
CREATE TABLE {name} (LIKE {table} INCLUDING ALL EXCLUDING IDENTITY);
ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES FROM ({lower}) TO ({upper});
"""


@dataclass(frozen=True, slots=True)
class History:
    """Tables that are divided by the same ranges of the ids of a sequence.

    `referenced` are the tables that their foreign keys refer to, in the order in which transactions change them.
    """

    sequence: str
    tables: tuple[str, ...]
    referenced: tuple[str, ...] = ()


class Partition(NamedTuple):
    """The rows of a table whose ids are `lower` or more, and less than `upper`."""

    name: str
    table: str
    lower: int
    upper: int


Check = tuple[str, tuple[Any, ...]]
"""A query that returns true when rows with ids from `$1` to less than `$2` are kept, and its further arguments."""


@dataclass(frozen=True, slots=True)
class Partitions:
    """The partitions of a history, of `size` ids each, made for the next `ahead` ids."""

    pool: Pool
    history: History
    size: int = RANGE
    ahead: int = AHEAD

    async def count_left(self) -> int:
        """Return the number of ids that can still be used."""
        return (await self._find(self.pool))[-1].upper - await self._last_id(self.pool)

    async def make(self) -> int:
        """Make the next partitions, those of each range in its own transaction; return the number of ids left.

        It makes none while another process does, or while a table cannot be locked at once: call it again later.
        """
        while (left := await self.count_left()) < self.ahead and await self._make_next():
            pass
        return left

    async def find_used(self) -> Sequence[Partition]:
        """Return the partitions of the first table whose ids were used so long ago that no transaction adds a row."""
        last = await self._last_id(self.pool)
        found = await self._find(self.pool)
        return [each for each in found if each.table == self.history.tables[0] and each.upper + self.size <= last]

    async def drop(self, used: Partition, checks: Sequence[Check]) -> bool:
        """Drop the range of a partition, in all tables, unless a check tells that rows are kept; return whether."""
        if await _are_kept(self.pool, used, checks):
            return False
        async with _alone(self.pool) as connection:
            if connection is None:
                return False
            names = [each.name for each in await self._find(connection) if each.upper == used.upper]
            if not names:
                return False
            parents = ", ".join(f"ONLY {table}" for table in self.history.tables)  # first, as every statement does
            await connection.execute(f"LOCK TABLE {parents}, {', '.join(names)} IN ACCESS EXCLUSIVE MODE")
            if await _are_kept(connection, used, checks):
                return False
            await connection.execute(f"DROP TABLE {', '.join(names)}")
            return True
        return False

    async def _make_next(self) -> bool:
        async with _alone(self.pool) as connection:
            if connection is None:
                return False
            lower = (await self._find(connection))[-1].upper
            if lower - await self._last_id(connection) >= self.ahead:  # another process has made it
                return True
            if self.history.referenced:
                referenced = ", ".join(self.history.referenced)
                await connection.execute(f"LOCK TABLE {referenced} IN SHARE ROW EXCLUSIVE MODE")
            for table in self.history.tables:
                name = f"{table}_from_{lower}"
                await connection.execute(MAKE.format(name=name, table=table, lower=lower, upper=lower + self.size))
            return True
        return False

    async def _find(self, source: Connection | Pool) -> Sequence[Partition]:
        return await fetch(source, Partition, FIND, self.history.tables)

    async def _last_id(self, source: Connection | Pool) -> int:
        return await source.fetchval(f"SELECT last_value FROM {self.history.sequence}")


@asynccontextmanager
async def _alone(pool: Pool) -> AsyncGenerator[Connection | None]:
    """Open a transaction that may change partitions; None when another process does, or a lock is not free at once."""
    with suppress(*CONTENDED, asyncpg.QueryCanceledError):
        async with pool.acquire() as connection, connection.transaction():
            yield connection if await connection.fetchval(BEGIN) else None


async def _are_kept(source: Connection | Pool, range: Partition, checks: Sequence[Check]) -> bool:
    return any([await source.fetchval(query, range.lower, range.upper, *arguments) for query, arguments in checks])

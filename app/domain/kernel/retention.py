"""Retention rules: statements that delete or empty rows after a time, in batches."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from app.db.engine import Connection, Pool
from app.db.partitions import Check, History, Partitions

BATCH = 1000
"""The number of rows that one transaction deletes or empties."""

RESTART = timedelta(days=1)
"""The time after which rows that were still needed are looked at again."""

DISORDER = timedelta(days=1)
"""The most by which a row of a history can be older than one with a lower id."""


NOTHING = "SELECT id FROM unnest(ARRAY[$1, $2]::bigint[]) AS id WHERE false"
"""The query of no ids: all rows may end."""


class Rule(NamedTuple):
    """A statement that deletes or empties rows older than `$1`, and their retention time.

    One that may find many rows takes `BATCH` of them: see `batch_of`.
    """

    statement: str
    kept: timedelta


def batch_of(table: str, condition: str) -> str:
    """Return the condition for the next rows of a table without partitions that satisfy a condition."""
    return f"ctid = ANY(ARRAY(SELECT ctid FROM {table} WHERE {condition} LIMIT {BATCH} FOR UPDATE SKIP LOCKED))"


async def apply(rules: Iterable[Rule], pool: Pool, now: datetime) -> None:
    """Run the statement of each rule, in transactions of their own, until it finds less than a batch of rows."""
    for rule in rules:
        while int((await pool.execute(rule.statement, now - rule.kept)).split()[-1]) >= BATCH:
            pass


@dataclass(frozen=True, slots=True)
class HistoryRule:
    """The rows of a table of a history, with their retention time.

    `key` is the column of the id by which the history is divided, `time` that of the time of the row. Rows that do not
    satisfy `which` are kept, and a row is kept for as long as the query `needed` returns its id, given the ids from
    `$1` to less than `$2`. Other rows end with those of the ids `$1` by `statements`, carried out in order after the
    rows themselves have been locked. With `emptied`, rows stay, and that column is emptied.
    """

    history: History
    table: str
    kept: timedelta
    key: str = "id"
    time: str = "created_at"
    needed: str = NOTHING
    statements: tuple[str, ...] = ()
    which: str = "true"
    emptied: str = ""

    @property
    def find(self) -> str:
        """Return the query of the next rows after the id `$1`, and whether they are older than `$2`."""
        return (
            f"SELECT {self.key} AS id, {self.time} < $2 AS is_over FROM {self.table} WHERE {self.key} > $1"
            f" ORDER BY {self.key} LIMIT {BATCH}"
        )

    @property
    def lock(self) -> str:
        """Return the statement that locks the rows of the ids `$1`, except those that others have locked."""
        return (
            f"SELECT {self.key} AS id FROM {self.table} WHERE {self.key} = ANY($1::bigint[]) AND {self.which}"
            f" ORDER BY {self.key} FOR UPDATE SKIP LOCKED"
        )

    @property
    def end(self) -> str:
        """Return the statement that deletes or empties the rows of the ids `$1` that are older than `$2`."""
        change = f"UPDATE {self.table} SET {self.emptied} = NULL" if self.emptied else f"DELETE FROM {self.table}"
        return f"{change} WHERE {self.key} = ANY($1::bigint[]) AND {self.time} < $2"

    def check(self, now: datetime) -> Check:
        """Return the check for dropping a range of ids; one of rows with which others end must be empty."""
        within = f"FROM {self.table} WHERE {self.key} >= $1 AND {self.key} < $2"
        if self.statements:
            return f"SELECT EXISTS (SELECT {within})", ()
        newest = f"SELECT {self.time} {within} ORDER BY {self.key} DESC LIMIT 1"
        return f"SELECT coalesce(({newest}) >= $3, false) OR EXISTS ({self.needed})", (now - self.kept - DISORDER,)


@dataclass(slots=True)
class Retention:
    """Ends the rows of a table of a history, the oldest first. The place in memory only saves time."""

    rule: HistoryRule
    pool: Pool
    _after: int = 0
    _began_at: datetime | None = None

    async def run(self, now: datetime) -> bool:
        """End a batch of rows; return whether more may be over."""
        if self._began_at is None or now - self._began_at > RESTART:
            self._after, self._began_at = 0, now
        until = now - self.rule.kept
        async with self.pool.acquire() as connection, connection.transaction():
            rows = await connection.fetch(self.rule.find, self._after, until)
            over = [row["id"] for row in rows if row["is_over"]]
            if over:
                await self._end(connection, over, until)
        fresh = [row["id"] for row in rows if not row["is_over"]]
        self._after = fresh[0] - 1 if fresh else rows[-1]["id"] if rows else self._after
        return len(rows) == BATCH and not fresh

    async def _end(self, connection: Connection, over: Sequence[int], until: datetime) -> None:
        needed = {row[0] for row in await connection.fetch(self.rule.needed, over[0], over[-1] + 1)}
        found = await connection.fetch(self.rule.lock, [id for id in over if id not in needed])
        ids = sorted({row["id"] for row in found})
        for statement in self.rule.statements:
            await connection.execute(statement, ids)
        await connection.execute(self.rule.end, ids, until)


@dataclass(slots=True)
class HistoryRetention:
    """Ends the rows of histories: whole ranges of ids, if none of their rows is kept, or else batch by batch."""

    partitions: Sequence[Partitions]
    rules: Sequence[HistoryRule]
    pool: Pool
    _running: list[Retention] = field(init=False)
    _is_passing: bool = False

    def __post_init__(self) -> None:
        """Begin with the oldest rows."""
        self._running = [Retention(rule, self.pool) for rule in self.rules]

    async def run(self, now: datetime) -> bool:
        """Drop the ranges that are over, then end a batch of rows of each table; return whether more may be over."""
        if not self._is_passing:
            await self._drop(now)
        self._is_passing = any([await each.run(now) for each in self._running])
        return self._is_passing

    async def _drop(self, now: datetime) -> None:
        for each in self.partitions:
            checks = [rule.check(now) for rule in self.rules if rule.history == each.history]
            for used in await each.find_used():
                await each.drop(used, checks)

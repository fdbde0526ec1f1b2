"""Creates, reads, counts and changes rows of a table: the only module with such statements."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from app.bootstrap import METADATA
from app.db.engine import Connection, Database, Pool
from app.services import Services

Source = Services | Database | Pool | Connection
"""The source of rows: the service's database, or a connection with an open transaction."""

BY_TRIGGERS = frozenset({"campaign_counts", "contact_tags", "contact_totals", "ledger_days", "outbox"})
"""Tables that triggers fill when rows are inserted into others."""

Change = Callable[[Services], Awaitable[None]]
"""A change of rows, as a case of a parametrized test."""


@dataclass(frozen=True)
class Rows:
    """The rows of a table, or those that satisfy conditions, in the order of the primary key."""

    table: str
    equal: tuple[tuple[str, Any], ...] = ()
    unequal: tuple[tuple[str, Any], ...] = ()

    def where(self, **values: Any) -> "Rows":
        """Select the rows with these values; `None` means null."""
        return replace(self, equal=(*self.equal, *values.items()))

    def where_not(self, **values: Any) -> "Rows":
        """Select the rows without these values; `None` selects rows that are not null."""
        return replace(self, unequal=(*self.unequal, *values.items()))

    async def read(self, source: Source, *columns: str) -> list[Any]:
        """Return each row, or only the named columns; a row equals the tuple of its values.

        For one column, return its values.
        """
        condition, parameters = self._condition(0)
        found = f"SELECT {self._listed(columns)} FROM {self.table}{condition} ORDER BY {', '.join(self._key())}"
        rows = await open_pool(source).fetch(found, *parameters)
        return [row[0] for row in rows] if len(columns) == 1 else rows

    async def only(self, source: Source, *columns: str) -> Any:
        """Return the one row, as `read` does; fail if there are none or several."""
        found = await self.read(source, *columns)
        assert len(found) == 1, f"{len(found)} rows of {self} instead of one"
        return found[0]

    async def last(self, source: Source, *columns: str) -> Any:
        """Return the row that was inserted last, as `read` does; fail if there is none."""
        return (await self.read(source, *columns))[-1]

    async def count(self, source: Source) -> int:
        """Return the number of rows."""
        condition, parameters = self._condition(0)
        return await open_pool(source).fetchval(f"SELECT count(*) FROM {self.table}{condition}", *parameters)

    async def count_vacuums(self, source: Source) -> int:
        """Return how often the table was vacuumed, without the work of autovacuum."""
        return await open_pool(source).fetchval("SELECT pg_stat_get_vacuum_count($1::text::regclass)", self.table)

    async def insert(self, source: Source, /, **values: Any) -> Any:
        """Insert one row, and return the first column of its primary key."""
        places = ", ".join(f"${number + 1}" for number in range(len(values)))
        columns = self._listed(values)
        added = f"INSERT INTO {self.table} ({columns}) VALUES ({places}) RETURNING {self._key()[0]}"
        return await open_pool(source).fetchval(added, *values.values())

    async def change(self, source: Source, **values: Any) -> None:
        """Set columns of each row."""
        assignments = ", ".join(f"{self._known(column)} = ${number}" for number, column in enumerate(values, 1))
        condition, parameters = self._condition(len(values))
        changed = f"UPDATE {self.table} SET {assignments}{condition}"
        await open_pool(source).execute(changed, *values.values(), *parameters)

    async def lock(self, source: Source, mode: str) -> None:
        """Lock each row, such as `FOR UPDATE NOWAIT`, until the transaction ends."""
        condition, parameters = self._condition(0)
        await open_pool(source).execute(f"SELECT FROM {self.table}{condition} {mode}", *parameters)

    async def age(self, source: Source, column: str, **duration: float) -> None:
        """Move a time of each row back by a duration."""
        condition, parameters = self._condition(1)
        aged = f"UPDATE {self.table} SET {self._known(column)} = {column} - $1::interval{condition}"
        await open_pool(source).execute(aged, timedelta(**duration), *parameters)

    async def texts(self, source: Source) -> list[str]:
        """Return each row as text, to search for data that must not be stored."""
        condition, parameters = self._condition(0)
        rows = await open_pool(source).fetch(f"SELECT t::text FROM {self.table} t{condition}", *parameters)
        return [row["t"] for row in rows]

    async def delete(self, source: Source) -> None:
        """Delete each row."""
        condition, parameters = self._condition(0)
        await open_pool(source).execute(f"DELETE FROM {self.table}{condition}", *parameters)

    async def truncate(self, source: Source) -> None:
        """Delete the rows as TRUNCATE does, which fires other triggers."""
        await open_pool(source).execute(f"TRUNCATE {self.table}")

    def _condition(self, number: int) -> tuple[str, list[Any]]:
        """Return the condition and its parameters, numbered after the first `number`."""
        parts: list[str] = []
        parameters: list[Any] = []
        for operator, pairs in (("IS NOT DISTINCT FROM", self.equal), ("IS DISTINCT FROM", self.unequal)):
            for column, value in pairs:
                parameters.append(value)
                parts.append(f"{self._known(column)} {operator} ${number + len(parameters)}")
        return (" WHERE " + " AND ".join(parts) if parts else ""), parameters

    def _listed(self, columns: Iterable[str]) -> str:
        return ", ".join(self._known(column) for column in columns) or "*"

    def _known(self, column: str) -> str:
        assert column in METADATA.tables[self.table].columns, f"{self.table} has no column {column}"
        return column

    def _key(self) -> list[str]:
        return [column.name for column in METADATA.tables[self.table].primary_key]


def open_pool(source: Source) -> Pool | Connection:
    """Return the pool of a source, or the connection itself."""
    match source:
        case Services():
            return source.database.pool
        case Database():
            return source.pool
        case _:
            return source


def ago(**duration: float) -> datetime:
    """Return a past time: `ago(days=8)`; the present without a duration."""
    return datetime.now(UTC) - timedelta(**duration)


def ahead(**duration: float) -> datetime:
    """Return a future time."""
    return datetime.now(UTC) + timedelta(**duration)

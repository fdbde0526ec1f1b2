"""Deletes what is left of removed integrations, in batches."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from app.db.engine import Connection, Database

TOPIC = "integration_leftovers"
BATCH = 1000
"""The number of rows that one transaction deletes, with the texts about bookings."""

IS_DUE = "SELECT EXISTS (SELECT FROM integrations WHERE status = 'removed')"

# Only the events that a process was about to store may still refer to it meanwhile.
HOLD = """
SELECT id FROM integrations WHERE status = 'removed' ORDER BY random() LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED
"""


@dataclass(frozen=True, slots=True)
class LeftoverTable:
    """A table with rows of integrations. An index begins with `integration_id`, followed by the column `order`."""

    name: str
    order: str

    def delete(self, *, first: bool) -> str:
        """Return the statement that deletes the next batch and returns its end: null where there is none."""
        after = "" if first else f" AND {self.order} > $2"
        return (
            f"WITH batch AS (SELECT id, {self.order} AS place FROM {self.name} WHERE integration_id = $1{after}"
            f" ORDER BY {self.order} LIMIT {BATCH} FOR UPDATE SKIP LOCKED),"
            f" gone AS (DELETE FROM {self.name} t USING batch WHERE t.id = batch.id)"
            " SELECT max(place) FROM batch"
        )

    @property
    def is_empty(self) -> str:
        """Return the condition that no row of the integration `$1` is left, locked or not."""
        return f"NOT EXISTS (SELECT FROM {self.name} WHERE integration_id = $1)"


@dataclass(frozen=True, slots=True)
class Leftovers:
    """Deletes those rows, and the integration when none is left; safe to run concurrently and to die anywhere.

    The places in memory, of a table and after a row of it, only save time: a batch need not step over the rows that
    earlier ones deleted. Rows that others have locked are found when the tables are read again from the beginning.
    """

    database: Database
    tables: Sequence[LeftoverTable]
    _places: dict[int, tuple[int, tuple[Any, ...]]] = field(default_factory=dict)

    async def run(self) -> bool:
        """Delete one batch; return True when more may be due."""
        async with self.database.pool.acquire() as connection, connection.transaction():
            id: int | None = await connection.fetchval(HOLD)
            return id is not None and await self._empty(connection, id)

    async def due(self) -> bool:
        """Return whether an integration was removed."""
        return await self.database.pool.ask(IS_DUE)

    async def _empty(self, connection: Connection, id: int) -> bool:
        """Delete a batch of an integration, or itself; return False where rows that others have locked are left."""
        number, after = self._places.pop(id, (0, ()))
        for place, table in enumerate(self.tables[number:], number):
            end = await connection.fetchval(table.delete(first=not after), id, *after)
            if end is not None:
                self._places[id] = place, (end,)
                return True
            after = ()
        are_empty = " AND ".join(table.is_empty for table in self.tables)
        deleted = await connection.execute(f"DELETE FROM integrations WHERE id = $1 AND {are_empty}", id)
        return deleted.endswith(" 1")

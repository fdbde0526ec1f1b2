"""Export of an account: all its records without secrets, read in batches."""

from collections.abc import AsyncGenerator
from typing import Any

from app.db.engine import Connection, Pool
from app.domain.erasure.tables import EXPORTED
from app.domain.kernel.account_tables import BY_ID, ExportedTable

SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"

BY_TABLE = {each.name: each for each in EXPORTED}

Record = dict[str, object]


async def read_snapshot(connection: Connection, account_id: int) -> AsyncGenerator[tuple[str, list[Record]]]:
    """Yield the records as of one instant; the connection's open transaction must not have run a query yet."""
    await connection.execute(SNAPSHOT)
    async for batch in read_records(connection, account_id):
        yield batch


async def read_records(source: Connection | Pool, account_id: int) -> AsyncGenerator[tuple[str, list[Record]]]:
    """Yield the records of each table in batches of at most `EXPORT_BATCH`; an empty table yields none.

    Each batch is read by a statement of its own. Records that are added while their table is read are left out.
    """
    for table in EXPORTED:
        async for rows in _read(source, table, account_id):
            yield table.name, [_record(table, row) for row in rows]


async def _read(
    source: Connection | Pool, table: ExportedTable, account_id: int, columns: str = "*"
) -> AsyncGenerator[list[Any]]:
    last = await source.fetchval(f"SELECT coalesce(max(id), 0) FROM {table.name}")
    if table.parent:
        async for ids in _read_ids(source, BY_TABLE[table.parent], account_id):
            async for rows in _read_of_parents(source, table, ids, last, columns):
                yield rows
        return
    after: tuple[Any, ...] = ()
    while rows := await source.fetch(table.select(columns, first=not after), account_id, last, *after):
        yield rows
        after = tuple(rows[-1][name] for name in table.order or BY_ID)


async def _read_ids(source: Connection | Pool, table: ExportedTable, account_id: int) -> AsyncGenerator[list[int]]:
    columns = ", ".join(dict.fromkeys((*BY_ID, *table.order, *([table.key] if table.key else []))))
    async for rows in _read(source, table, account_id, columns):
        yield [row["id"] for row in rows]


async def _read_of_parents(
    source: Connection | Pool, table: ExportedTable, ids: list[int], last: int, columns: str
) -> AsyncGenerator[list[Any]]:
    after = 0, 0
    while rows := await source.fetch(table.select_of_parents(columns), ids, last, *after):
        yield rows
        after = rows[-1][table.key], rows[-1]["id"]


def _record(table: ExportedTable, row: Record) -> Record:
    return {name: value for name, value in row.items() if name not in table.withheld}

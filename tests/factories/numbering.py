"""Ids that examples of the documents name."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import asyncpg

RESTART = "SELECT setval(pg_get_serial_sequence($1, 'id'), 1, false)"
LAST = "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence($1, 'id')::regclass), 1)"
GO_ON = "SELECT setval(pg_get_serial_sequence($1, 'id'), $2)"


@asynccontextmanager
async def numbered_from_one(database_url: str, tables: Sequence[str]) -> AsyncGenerator[None]:
    """Give the next row of each table, which must be empty, the id 1 in a block.

    Afterwards each goes on after the highest id so far: rows that a world of tests keeps are inserted again with it.
    """
    connection = await asyncpg.connect(database_url)
    former = {table: await connection.fetchval(LAST, table) for table in tables}
    for table in tables:
        await connection.execute(RESTART, table)
    try:
        yield
    finally:
        for table, last in former.items():
            await connection.execute(GO_ON, table, max(last, await connection.fetchval(LAST, table)))
        await connection.close()

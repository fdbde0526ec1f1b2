"""Ids that examples of the documents name."""

from collections.abc import Iterable

import asyncpg


async def number_from_one(database_url: str, tables: Iterable[str]) -> None:
    """Give the next row of each table, which must be empty, the id 1."""
    connection = await asyncpg.connect(database_url)
    for table in tables:
        await connection.execute("SELECT setval(pg_get_serial_sequence($1, 'id'), 1, false)", table)
    await connection.close()

"""Reads and changes the partitions of histories, and the ids that come next."""

from app.domain.events.retention import HISTORY as EVENTS
from app.domain.messages.retention import HISTORY as MESSAGES
from tests.factories.tables import Source, open_pool

HISTORIES = (MESSAGES, EVENTS)


async def continue_after(source: Source, id: int) -> None:
    """Have the next message and the next event get the id after one."""
    for history in HISTORIES:
        await open_pool(source).execute("SELECT setval($1::text::regclass, $2)", history.sequence, id)


async def partitions(source: Source, table: str) -> list[str]:
    """Return the names of the partitions of a table, in the order of their ranges."""
    found = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = $1::text::regclass ORDER BY inhrelid"
    return [row[0] for row in await open_pool(source).fetch(found, table)]


async def places(source: Source, table: str) -> list[tuple[str, int]]:
    """Return the partition of each row, and the ids in it, in order."""
    found = f"SELECT tableoid::regclass::text AS partition, id FROM {table} ORDER BY id"
    return [tuple(row) for row in await open_pool(source).fetch(found)]


async def tables(source: Source, prefix: str) -> list[str]:
    """Return the names of all tables that begin with a prefix."""
    found = "SELECT tablename::text FROM pg_tables WHERE starts_with(tablename, $1) ORDER BY 1"
    return [row[0] for row in await open_pool(source).fetch(found, prefix)]

"""The schema revision of a database and of the code, read without Alembic, which is slow to import."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg

PATIENCE, CONNECT_SECONDS = 60.0, 5
FOLDER = Path(__file__).parent / "migrations"

_UNREACHABLE = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError)
_FOLLOWS = re.compile(r'^down_revision = "(\w+)"', re.M)

_FIND_REVISION = """
SELECT version_num, obj_description('alembic_version'::regclass, 'pg_class') AS oldest_code FROM alembic_version
"""
"""`oldest_code` is the revision of the oldest code that runs on the schema: `migrate` writes it, as a comment."""


class _Found(NamedTuple):
    revision: str
    oldest_code: str | None


class SchemaBehind(Exception):
    """The database lacks migrations, or was not migrated in time."""


class SchemaAhead(Exception):
    """The database was migrated by a newer version of the service; only a backup restores the older schema."""


@cache
def newest() -> str:
    """Return the revision of the last migration: the one that no other migration follows."""
    files = sorted(FOLDER.glob("versions/[0-9]*.py"))
    followed = {found[1] for path in files if (found := _FOLLOWS.search(path.read_text()))}
    return max(_known() - followed)


async def current(url: str) -> str | None:
    """Return the revision of a database; None if it is unreachable or was never migrated.

    A newer schema that this code can use counts as the newest that the code knows, so that processes of an older
    version run, and restart, while others are upgraded. Raises `SchemaAhead` for other unknown revisions.
    """
    async with _open(url) as connection:
        return await _read_revision(connection) if connection else None


async def find_value(url: str, statement: str, *values: object) -> Any:
    """Return the value that a statement finds; None while the database is unreachable or lacks the newest schema."""
    async with _open(url) as connection:
        if connection and await _read_revision(connection) == newest():
            with suppress(*_UNREACHABLE):
                return await connection.fetchval(statement, *values, timeout=CONNECT_SECONDS)
    return None


async def check(url: str) -> None:
    """Raise `SchemaBehind` or `SchemaAhead` unless the database has the schema of this version.

    Of a database that cannot be reached, or ends the connection, nothing is known: that error is raised.
    """
    connection = await asyncpg.connect(url, timeout=CONNECT_SECONDS)
    try:
        revision = await _find_revision(connection)
    finally:
        await _close(connection)
    if revision != newest():
        raise SchemaBehind("The database has not the newest schema. Run `messaging migrate`, then this command again.")


@cache
def _known() -> frozenset[str]:
    """Return all revisions, from the numbers that begin the names of the migration files."""
    return frozenset(path.name.partition("_")[0] for path in FOLDER.glob("versions/[0-9]*.py"))


@asynccontextmanager
async def _open(url: str) -> AsyncGenerator[asyncpg.Connection | None]:
    """Open a connection for a block; None if the database is unreachable."""
    try:
        connection = await asyncpg.connect(url, timeout=CONNECT_SECONDS)
    except _UNREACHABLE:
        yield None
        return
    try:
        yield connection
    finally:
        await _close(connection)


async def _close(connection: asyncpg.Connection) -> None:
    """Close a connection, also one whose server does not answer."""
    try:
        await connection.close(timeout=CONNECT_SECONDS)
    except _UNREACHABLE:
        connection.terminate()


async def _read_revision(connection: asyncpg.Connection) -> str | None:
    """Return the revision that counts, also None where the connection fails; see `current`."""
    try:
        return await _find_revision(connection)
    except _UNREACHABLE:
        return None


async def _find_revision(connection: asyncpg.Connection) -> str | None:
    """Return the revision that counts; None if the database has none, or none that the user may read."""
    try:
        row = await connection.fetchrow(_FIND_REVISION, timeout=CONNECT_SECONDS)
    except asyncpg.SyntaxOrAccessError:
        return None
    found = _Found(*row) if row else None
    if found is None:
        return None
    if found.revision in _known():
        return found.revision
    if found.oldest_code in _known():
        return newest()
    raise SchemaAhead(
        f"A newer version of the service made the database (its schema is {found.revision}, this version knows "
        f"{newest()}). Run that version again, or restore a backup."
    )


async def wait_for(url: str) -> None:
    """Wait until another process has applied all migrations; raise `SchemaBehind` after `PATIENCE` seconds."""
    try:
        async with asyncio.timeout(PATIENCE):
            while await current(url) != newest():  # noqa: ASYNC110 - another process makes it so
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise SchemaBehind(
            "The database cannot be reached, or lacks migrations. Check DATABASE_URL, or run `messaging migrate`."
        ) from None

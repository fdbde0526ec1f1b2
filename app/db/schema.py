"""The schema revision of a database and of the code, read without Alembic, which is slow to import."""

import asyncio
from functools import cache
from pathlib import Path

import asyncpg

PATIENCE, CONNECT_SECONDS = 60.0, 5
FOLDER = Path(__file__).parent / "migrations"

_FIND_REVISION = "SELECT version_num FROM alembic_version"


class SchemaBehind(Exception):
    """The database lacks migrations, or was not migrated in time."""


class SchemaAhead(Exception):
    """The database was migrated by a newer version of the service; only a backup restores the older schema."""


def newest() -> str:
    """Return the revision of the last migration."""
    return max(_known())


async def current(url: str) -> str | None:
    """Return the revision of a database; None if it is unreachable or was never migrated.

    Raises `SchemaAhead` for an unknown revision.
    """
    revision = await _find_revision(url)
    if revision is not None and revision not in _known():
        raise SchemaAhead(
            f"A newer version of the service made the database (its schema is {revision}, this version knows "
            f"{newest()}). Run that version again, or restore a backup."
        )
    return revision


async def check(url: str) -> None:
    """Raise `SchemaBehind` or `SchemaAhead` unless the database has the schema of this version."""
    if await current(url) != newest():
        raise SchemaBehind("The database has not the newest schema. Run `messaging migrate`, then this command again.")


@cache
def _known() -> frozenset[str]:
    """Return all revisions, from the numbers that begin the names of the migration files."""
    return frozenset(path.name.partition("_")[0] for path in FOLDER.glob("versions/[0-9]*.py"))


async def _find_revision(url: str) -> str | None:
    try:
        connection = await asyncpg.connect(url, timeout=CONNECT_SECONDS)
    except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError):
        return None
    try:
        return await connection.fetchval(_FIND_REVISION, timeout=CONNECT_SECONDS)
    except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
        return None
    finally:
        await connection.close(timeout=CONNECT_SECONDS)


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

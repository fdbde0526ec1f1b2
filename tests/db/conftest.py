"""Databases of one test."""

from collections.abc import AsyncGenerator

import pytest

from tests.db.databases import execute, named


@pytest.fixture
async def empty_url(database_url: str, worker_number: int) -> AsyncGenerator[str]:
    """Return the URL of a database without tables."""
    name = f"migrated_{worker_number}"
    await execute(named(database_url, "postgres"), f"CREATE DATABASE {name} TEMPLATE template0 STRATEGY file_copy")
    yield named(database_url, name)
    await execute(named(database_url, "postgres"), f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def newest_url(database_url: str, worker_number: int) -> AsyncGenerator[str]:
    """Return the URL of a database that has the newest schema and no rows of accounts."""
    name = f"newest_{worker_number}"
    await execute(named(database_url, "postgres"), f"CREATE DATABASE {name} TEMPLATE messaging STRATEGY file_copy")
    yield named(database_url, name)
    await execute(named(database_url, "postgres"), f"DROP DATABASE {name} WITH (FORCE)")

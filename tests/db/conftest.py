"""A database without tables."""

from collections.abc import AsyncGenerator

import pytest

from tests.db.databases import execute, named


@pytest.fixture
async def empty_url(database_url: str, worker_number: int) -> AsyncGenerator[str]:
    """Return the URL of a database without tables."""
    name = f"migrated_{worker_number}"
    await execute(named(database_url, "postgres"), f"CREATE DATABASE {name} TEMPLATE template0")
    yield named(database_url, name)
    await execute(named(database_url, "postgres"), f"DROP DATABASE {name} WITH (FORCE)")

"""Databases of one test."""

from collections.abc import AsyncGenerator, Iterator
from functools import cache
from typing import Any

import pytest
from alembic import util

from tests.db.databases import execute, named


@pytest.fixture(scope="session", autouse=True)
def migrations_loaded_once() -> Iterator[None]:
    """Keep the modules of migrations, because Alembic would load all of them for each move of a schema, in 30 ms."""
    plain = util.load_python_file
    loaded = cache(plain)

    def load(folder: Any, name: str) -> Any:
        return (plain if name == "env.py" else loaded)(folder, name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(util, "load_python_file", load)
        yield


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

"""The database, for tests below the services."""

from collections.abc import AsyncGenerator

import pytest

from app.db.engine import Database, connect
from tests.shared import empty


@pytest.fixture
async def database(database_url: str) -> AsyncGenerator[Database]:
    """Provide connections to an empty database."""
    database = await connect(database_url, 4)
    yield database
    await empty(database.pool)
    await database.close()

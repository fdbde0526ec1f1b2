"""The database alone, for what stands below the services."""

from collections.abc import AsyncGenerator

import pytest

from app.db.engine import Database, connect


@pytest.fixture
async def database(database_url: str) -> AsyncGenerator[Database]:
    """Give connections to a database whose sandbox network has taken nothing."""
    database = await connect(database_url, 4)
    await database.pool.execute("TRUNCATE sandbox_messages, sandbox_callbacks")
    yield database
    await database.close()

"""Separate databases for a test."""

import re
from collections.abc import Callable

import asyncpg
from sqlalchemy.ext.asyncio import create_async_engine

from app.bootstrap import METADATA
from app.db import migrate


def named(url: str, name: str) -> str:
    """Return the URL of another database of the same server."""
    return re.sub(r"/\w+(?=\?)", f"/{name}", url, count=1)


async def execute(url: str, statement: str) -> None:
    """Run a statement in a database."""
    connection = await asyncpg.connect(url)
    await connection.execute(statement)
    await connection.close()


async def move(url: str, change: Callable[..., None], revision: str) -> None:
    """Bring a database to a revision by a command of Alembic's."""
    engine = create_async_engine(url.replace("postgresql://", "postgresql+asyncpg://", 1))
    try:
        async with engine.connect() as connection:
            await connection.run_sync(lambda each: change(migrate.configuration(METADATA, each), revision))
            await connection.commit()
    finally:
        await engine.dispose()

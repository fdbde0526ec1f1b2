"""Separate databases for a test."""

import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import asyncpg
from sqlalchemy.ext.asyncio import create_async_engine

from app.bootstrap import METADATA
from app.db import migrate

Move = Callable[[Callable[..., None], str], Awaitable[None]]
"""Brings a database to a revision by a command of Alembic's."""


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
    async with moving(url) as move:
        await move(change, revision)


@asynccontextmanager
async def moving(url: str) -> AsyncGenerator[Move]:
    """Provide a function that brings a database to a revision, always by the same connection."""
    engine = create_async_engine(url.replace("postgresql://", "postgresql+asyncpg://", 1))

    async def move(change: Callable[..., None], revision: str) -> None:
        await connection.run_sync(lambda each: change(migrate.configuration(METADATA, each), revision))
        await connection.commit()

    try:
        async with engine.connect() as connection:
            yield move
    finally:
        await engine.dispose()

"""Migrates a database to the newest schema."""

import asyncio
from typing import Any

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Connection, MetaData, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.db.engine import open_engine
from app.db.schema import FOLDER

LOCK = 7_236_451
"""Key of the advisory lock that lets one process migrate while the others wait."""

PAUSE = 0.1
"""Seconds between two attempts to take the lock."""


async def upgrade(url: str, metadata: MetaData) -> None:
    """Apply the missing migrations; a lock lets one process migrate while others wait."""
    engine = open_engine(url)
    try:
        async with engine.connect() as connection:
            await _lock(connection)
            await connection.run_sync(_upgrade, metadata)
            await connection.commit()
    finally:
        await engine.dispose()


async def difference(engine: AsyncEngine, metadata: MetaData) -> list[Any]:
    """Return the differences between the models and the database; empty when migrations are complete."""
    async with engine.connect() as connection:
        return await connection.run_sync(_difference, metadata)


def configuration(metadata: MetaData, connection: Connection | None = None) -> Config:
    """Return Alembic's configuration for our folder of migrations."""
    config = Config()
    config.set_main_option("script_location", str(FOLDER))
    config.attributes.update(metadata=metadata, connection=connection)
    return config


async def _lock(connection: AsyncConnection) -> None:
    """Lock until the connection is closed; wait without a transaction, for which a concurrent index would wait."""
    while not await connection.scalar(text(f"SELECT pg_try_advisory_lock({LOCK})")):
        await connection.rollback()
        await asyncio.sleep(PAUSE)
    await connection.commit()


def _upgrade(connection: Connection, metadata: MetaData) -> None:
    command.upgrade(configuration(metadata, connection), "head")


def _difference(connection: Connection, metadata: MetaData) -> list[Any]:
    partitions = set(connection.scalars(text("SELECT relname FROM pg_class WHERE relispartition")))

    def is_compared(name: str | None, kind: str, _: object) -> bool:
        return kind != "table" or name not in partitions

    return compare_metadata(MigrationContext.configure(connection, opts={"include_name": is_compared}), metadata)

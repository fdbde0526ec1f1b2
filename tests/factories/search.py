"""Searches words in all stored data: every column of every table, and all of Redis."""

from collections.abc import Collection

from redis.asyncio import Redis

from app.bootstrap import METADATA
from app.db.engine import Pool

Place = tuple[str, str]
"""A table and one of its columns."""


async def find_places(pool: Pool, words: Collection[str]) -> dict[Place, set[str]]:
    """Return the columns that contain any of the words, with these words; ignores case and reads bytes as Latin-1."""
    found: dict[Place, set[str]] = {}
    for table in METADATA.sorted_tables:
        for row in await pool.fetch(f"SELECT * FROM {table.name}"):
            for column, value in row.items():
                text = (value.decode("latin-1") if isinstance(value, bytes) else str(value)).lower()
                if held := {word for word in words if word.lower() in text}:
                    found.setdefault((table.name, column), set()).update(held)
    return found


async def find_in_redis(url: str, words: Collection[str]) -> list[str]:
    """Return the keys of Redis that contain any of the words in their name or value."""
    async with Redis.from_url(url) as redis:
        keys = [key async for key in redis.scan_iter()]
        dumps = [key + (await redis.dump(key) or b"") for key in keys]
    return [dump.decode("latin-1") for dump in dumps if any(word.lower().encode() in dump.lower() for word in words)]

"""Separate databases for a test."""

import re

import asyncpg


def named(url: str, name: str) -> str:
    """Return the URL of another database of the same server."""
    return re.sub(r"/\w+(?=\?)", f"/{name}", url, count=1)


async def execute(url: str, statement: str) -> None:
    """Run a statement in a database."""
    connection = await asyncpg.connect(url)
    await connection.execute(statement)
    await connection.close()

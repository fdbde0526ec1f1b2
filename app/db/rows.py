"""Rows of hot statements, as typed objects."""

from collections.abc import Callable
from typing import Any, TypeVar

from app.db.engine import Connection, Pool

R = TypeVar("R")


async def fetch(source: Connection | Pool, shape: Callable[..., R], statement: str, *arguments: Any) -> list[R]:
    """Return all rows of a statement; its columns have the names that `shape` takes, and no others."""
    return [shape(**row) for row in await source.fetch(statement, *arguments)]


async def find(source: Connection | Pool, shape: Callable[..., R], statement: str, *arguments: Any) -> R | None:
    """Return the first row of a statement, or None; see `fetch`."""
    row = await source.fetchrow(statement, *arguments)
    return None if row is None else shape(**row)

"""Rows of hot statements, as typed objects."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, TypeVar, cast

from app.db.engine import Connection, Pool

R = TypeVar("R")


async def fetch(source: Connection | Pool, shape: Callable[..., R], statement: str, *arguments: Any) -> list[R]:
    """Return all rows of a statement; its columns have the names that `shape` takes, and no others."""
    return _shaped(shape, await source.fetch(statement, *arguments))


async def find(source: Connection | Pool, shape: Callable[..., R], statement: str, *arguments: Any) -> R | None:
    """Return the first row of a statement, or None; see `fetch`."""
    row = await source.fetchrow(statement, *arguments)
    return None if row is None else shape(**row)


def unless_all(values: Sequence[object], usual: object) -> Sequence[object] | None:
    """Return no column for values that are all as usual, since each array that is passed costs, and each element of it.

    `unnest` gives null for the elements that a column lacks.
    """
    return None if values.count(usual) == len(values) else values


def integers(values: Iterable[int | None]) -> str:
    """Return a column of integers as the text of an array, for `$1::text::bigint[]`.

    For each element of a list, asyncpg finds out whether it is a list too, which takes longer than the element.
    """
    texts = ["NULL" if value is None else str(value) for value in values]
    return f"{{{','.join(texts)}}}"


def texts(values: Iterable[str | None]) -> str:
    """Return a column of texts as the text of an array, for `$1::text::text[]`; see `integers`."""
    return f"{{{','.join(map(_quoted, values))}}}"


def _quoted(value: str | None) -> str:
    if value is None:
        return "NULL"
    if '"' in value or "\\" in value:
        value = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{value}"'


def _shaped(shape: Callable[..., R], rows: Sequence[Any]) -> list[R]:
    """Return the rows as objects; named tuples with the fields in the order of the columns are made by their places."""
    if rows and getattr(shape, "_fields", None) == tuple(rows[0].keys()):
        return list(map(partial(tuple.__new__, cast("type[Any]", shape)), rows))
    return [shape(**row) for row in rows]

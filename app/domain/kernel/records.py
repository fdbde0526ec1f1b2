"""Rows as objects of no session, because objects of a session take ten times as long to make."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import Select, inspect
from sqlalchemy.orm import Mapper

from app.domain.kernel.unit_of_work import UnitOfWork

T = TypeVar("T")


async def find(unit: UnitOfWork, statement: Select[T]) -> list[T]:
    """Return the rows of a statement that selects a class, as objects of no session; see `read`."""
    kind: type[T] = statement.column_descriptions[0]["expr"]
    return [row[0] for row in read(kind, await unit.rows_apart(statement))]


def read(kind: type[T], rows: Iterable[Sequence[Any]]) -> list[list[Any]]:
    """Return rows with an object in place of their first columns, which are those of a class, in the same order.

    The objects are for reading: they have no deferred columns, and a change of them is never written.
    """
    names = _names(kind)
    return [[_make(kind, names, row), *row[len(names) :]] for row in rows]


def _make(kind: type[T], names: Sequence[str], row: Sequence[Any]) -> T:
    made = kind.__new__(kind)
    made.__dict__.update(zip(names, row, strict=False))
    return made


@cache
def _names(kind: type) -> Sequence[str]:
    mapper: Mapper[Any] = inspect(kind)
    return [each.key for each in mapper.column_attrs if not each.deferred]

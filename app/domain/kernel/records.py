"""Rows as objects of no session, because objects of a session take ten times as long to make."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, TypeVar

import orjson
from sqlalchemy import BigInteger, ColumnElement, Select, any_, inspect, literal
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import InstrumentedAttribute, Mapper

from app.domain.kernel.unit_of_work import UnitOfWork

T = TypeVar("T")


def among(column: InstrumentedAttribute[int], ids: Sequence[int]) -> ColumnElement[bool]:
    """Return the condition that a column has one of these ids: one parameter, and so one statement for any number."""
    return column == any_(literal(ids, ARRAY(BigInteger)))


async def find(unit: UnitOfWork, statement: Select[T], columns: frozenset[str] | None = None) -> list[T]:
    """Return the rows of a statement that selects a class, as objects of no session with these columns; see `read`."""
    kind: type[T] = statement.column_descriptions[0]["expr"]
    names = names_among(kind, columns)
    wanted = statement.with_only_columns(*(getattr(kind, name) for name in names), maintain_column_froms=True)
    return [row[0] for row in read(kind, await unit.rows_apart(wanted), names)]


def read(kind: type[T], rows: Iterable[Sequence[Any]], names: Sequence[str] | None = None) -> list[list[Any]]:
    """Return rows with an object in place of their first columns: those of a class in the same order, or these.

    The objects are for reading: they have no deferred columns, and a change of them is never written.
    """
    names = names_of(kind) if names is None else names
    return [[_make(kind, names, row), *row[len(names) :]] for row in rows]


def show(rows: Iterable[Sequence[Any]]) -> list[list[Any]]:
    """Return rows with a fragment of JSON in place of their first column, its text."""
    return [[orjson.Fragment(text), *others] for text, *others in rows]


def _make(kind: type[T], names: Sequence[str], row: Sequence[Any]) -> T:
    made = kind.__new__(kind)
    made.__dict__ = dict(zip(names, row, strict=False))
    return made


def names_among(kind: type, columns: frozenset[str] | None) -> Sequence[str]:
    """Return the columns of a class that are read: all, if some attribute that is read is no column."""
    known = names_of(kind)
    if columns is None or not columns.issubset(known):
        return known
    return [name for name in known if name in columns]


@cache
def names_of(kind: type) -> Sequence[str]:
    """Return the columns that objects of a class have."""
    mapper: Mapper[Any] = inspect(kind)
    return [each.key for each in mapper.column_attrs if not each.deferred]

"""Rows as JSON texts that PostgreSQL writes, because a row that is only shown needs no object of Python."""

from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple, cast

from sqlalchemy import ARRAY, Boolean, ColumnElement, DateTime, Integer, Text, inspect, literal_column
from sqlalchemy.orm import Mapper
from sqlalchemy.orm.util import AliasedClass

MAX_TEXTS = 256
"""The number of expressions that are kept."""


class Kind(Enum):
    """A type of values: the class of its columns, and the expression of its JSON."""

    constant = object, ""  # the value is in place of the attribute
    number = Integer, "{}::text"
    small_number = Integer, "{}::integer::text"  # a number of more than 32 bits fails the statement
    boolean = Boolean, "{}::text"
    text = Text, "to_json({})::text"
    texts = ARRAY, "to_json({})::text"
    instant = DateTime, r"""to_char({} AT TIME ZONE 'UTC', '\"YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\"')"""

    def __init__(self, column: type[Any], expression: str) -> None:
        self.column = column
        self.expression = expression


class Member(NamedTuple):
    """A member of an object: its key, which is a word of ASCII, the shown attribute, and whether that may be null."""

    key: str
    attribute: str
    kind: Kind
    is_nullable: bool


Entity = type[Any] | AliasedClass[Any]

Shape = tuple[Member, ...]
"""The members of an object in their order."""


@lru_cache(MAX_TEXTS)
def text_of(entity: Entity, shape: Shape) -> ColumnElement[str] | None:
    """Return the JSON of the rows of a class, or of an alias that has a name.

    None if an attribute is no column of such values, or a column may be null where the shape has no null.
    """
    members = [_write(entity, member) for member in shape]
    joined = " || ',' || ".join(each for each in members if each)
    return literal_column(f"'{{' || {joined} || '}}'", Text) if all(members) else None


def _write(entity: Entity, member: Member) -> str | None:
    key, attribute, kind, is_nullable = member
    if kind is Kind.constant:
        return f"""'"{key}":"{attribute}"'"""
    column = cast("Mapper[Any]", inspect(entity).mapper).columns.get(attribute)
    if column is None or not isinstance(column.type, kind.column) or (column.nullable and not is_nullable):
        return None
    value = kind.expression.format(getattr(entity, attribute).compile())
    return f"""'"{key}":' || """ + (f"coalesce({value}, 'null')" if column.nullable else value)

"""Rows as JSON texts that PostgreSQL writes, because a row that is only shown needs no object of Python."""

from enum import Enum
from functools import lru_cache
from typing import Any, NamedTuple, cast

from sqlalchemy import ARRAY, Boolean, ColumnElement, DateTime, Integer, Text, inspect, literal_column
from sqlalchemy.orm import Mapper, QueryableAttribute, aliased
from sqlalchemy.orm.util import AliasedClass

from app.domain.kernel.orders import Order
from app.domain.kernel.relations import AnyRelation

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


class Link(NamedTuple):
    """A member that shows the records of a relation whose owner is in an attribute: one or null, or the first `size`.

    A list is the member `nodes` of an object. `place` is the number of the field whose arguments tell the size.
    """

    key: str
    relation: AnyRelation
    attribute: str
    shape: "Shape"
    nodes: str = ""
    place: int | None = None
    size: int = 0


ACCOUNT = "account_id"

Entity = type[Any] | AliasedClass[Any]

Shape = tuple[Member | Link, ...]
"""The members of an object in their order."""


def has_links(shape: Shape) -> bool:
    """Return whether a shape shows records of relations."""
    return any(isinstance(each, Link) for each in shape)


@lru_cache(MAX_TEXTS)
def text_of(entity: Entity, shape: Shape) -> ColumnElement[str] | None:
    """Return the JSON of the rows of a class, or of an alias that has a name.

    None if an attribute is no column of such values, or a column may be null where the shape has no null.
    """
    text = _write_object(entity, shape)
    return literal_column(text, Text) if text else None


def _write_object(entity: Entity, shape: Shape, depth: int = 1) -> str | None:
    members = [_write_link(entity, each, depth) if isinstance(each, Link) else _write(entity, each) for each in shape]
    joined = " || ',' || ".join(each for each in members if each)
    return f"'{{' || {joined} || '}}'" if all(members) else None


def _write_link(entity: Entity, link: Link, depth: int) -> str | None:
    relation, kind = link.relation, aliased(link.relation.kind, name=f"linked_{depth}")
    text = _write_object(kind, link.shape, depth + 1)
    if text is None:
        return None
    # The account is no key: with it, a plan from a time with few rows would read all of the account for each owner.
    owner = cast("QueryableAttribute[int]", relation.owner).key
    own = f"{_name(kind, owner)} = {_name(entity, link.attribute)}"
    same = f"{_name(kind, ACCOUNT)} + 0 = {_name(entity, ACCOUNT)}"
    found = f"SELECT {text} FROM {inspect(kind).mapper.local_table} AS linked_{depth} WHERE {own} AND {same}"
    if relation.order is None:
        return f"""'"{link.key}":' || coalesce(({found}), 'null')"""
    listed = f"array_to_string(ARRAY({found} ORDER BY {_sorting(kind, relation.order)} LIMIT {link.size}), ',')"
    return f"""'"{link.key}":{{"{link.nodes}":[' || {listed} || ']}}'"""


def _sorting(kind: Entity, order: Order) -> str:
    direction = "DESC" if order.descending else "ASC"
    return ", ".join(f"{_name(kind, str(column.key))} {direction}" for column in order.columns)


def _name(entity: Entity, attribute: str) -> str:
    return str(getattr(entity, attribute).compile())


def _write(entity: Entity, member: Member) -> str | None:
    key, attribute, kind, is_nullable = member
    if kind is Kind.constant:
        return f"""'"{key}":"{attribute}"'"""
    column = cast("Mapper[Any]", inspect(entity).mapper).columns.get(attribute)
    if column is None or not isinstance(column.type, kind.column) or (column.nullable and not is_nullable):
        return None
    value = kind.expression.format(_name(entity, attribute))
    return f"""'"{key}":' || """ + (f"coalesce({value}, 'null')" if column.nullable else value)

"""Pages of long lists: a window is asked for, a page is answered."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

import orjson
from sqlalchemy import ColumnElement, Select, literal, tuple_
from sqlalchemy.orm import InstrumentedAttribute

from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.unit_of_work import UnitOfWork

T = TypeVar("T")

NO_CURSOR = "after is not a cursor of this list. Leave it out to begin at the start."
MAX_FIRST = 200
MAX_OFFSET = 2**31
MAX_INTEGER = 2**63


@dataclass(frozen=True, slots=True)
class Window:
    """Which part of a list is wanted: at most `first` rows, behind the place `after`, leaving out `offset` of them.

    A place is what the row there is sorted by: it stays one when the row is deleted. `name` is that of the list.
    """

    first: int = 50
    after: str | None = None
    offset: int = 0
    name: str = ""

    def __post_init__(self) -> None:
        """Raise `InvalidInput` for a window that no list has."""
        if not 1 <= self.first <= MAX_FIRST:
            raise InvalidInput(reason=f"first must be from 1 to {MAX_FIRST}.", argument="first")
        if not 0 <= self.offset < MAX_OFFSET:
            raise InvalidInput(reason="offset must be 0 or more.")


@dataclass(frozen=True, slots=True)
class Order:
    """The columns a list is sorted by; together they are unique, so that no row is shown twice or left out."""

    columns: tuple[ColumnElement[Any] | InstrumentedAttribute[Any], ...]
    descending: bool = True


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Part of a list, which ends at the place `end_cursor`. `total` counts the whole list, and only when asked to."""

    nodes: Sequence[T]
    has_next_page: bool
    end_cursor: str | None
    total: Callable[[], Awaitable[int]]
    name: str = ""


async def fetch(
    unit: UnitOfWork, statement: Select[T], order: Order, window: Window, total: Callable[[], Awaitable[int]]
) -> Page[T]:
    """Return one page of a statement's rows."""
    if window.after is not None:
        statement = statement.where(_behind(order, window.after))
    sorting = [column.desc() if order.descending else column.asc() for column in order.columns]
    wanted = statement.add_columns(*order.columns).order_by(*sorting).offset(window.offset).limit(window.first + 1)
    rows = await unit.rows(wanted)
    shown = rows[: window.first]
    return Page(
        nodes=[row[0] for row in shown],
        has_next_page=len(rows) > window.first,
        end_cursor=_place(shown[-1][1:]) if shown else None,
        total=total,
        name=window.name,
    )


def _behind(order: Order, place: str) -> ColumnElement[bool]:
    try:
        pairs = zip(orjson.loads(place), order.columns, strict=True)
        typed = [literal(_typed(value, column.type.python_type), column.type) for value, column in pairs]
    except (TypeError, ValueError, OverflowError):
        raise InvalidInput(reason=NO_CURSOR) from None
    here, there = tuple_(*order.columns), tuple_(*typed)
    return here < there if order.descending else here > there


def _place(values: Sequence[Any]) -> str:
    return orjson.dumps(list(values)).decode()


def _typed(value: Any, kind: type) -> Any:
    """Return a value of a place as its column takes it: JSON has no instants, and a name may look like one."""
    if kind is datetime:
        return datetime.fromisoformat(value).astimezone(UTC)
    if type(value) is not kind or (kind is int and value >= MAX_INTEGER) or (kind is str and "\0" in value):
        raise TypeError
    return value

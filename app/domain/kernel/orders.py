"""Orders of lists, and the places of rows in them."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Interval, literal, literal_column, tuple_
from sqlalchemy.orm import InstrumentedAttribute

from app.domain.kernel.errors import InvalidInput

MAX_INTEGER = 2**63
NO_TIME = literal_column("interval '0'", Interval)


def invalid_cursor(name: str) -> InvalidInput:
    """Return the error of an argument that is not a cursor of its list."""
    start = "start" if name == "after" else "end"
    return InvalidInput(
        reason=f"{name} is not a cursor of this list. Leave it out to begin at the {start}.", field=name
    )


@dataclass(frozen=True, slots=True)
class Order:
    """The sort columns of a list; together they are unique, so that no row is repeated or skipped."""

    columns: tuple[ColumnElement[Any] | InstrumentedAttribute[Any], ...]
    descending: bool = True

    @property
    def reversed(self) -> "Order":
        """Return the reverse order."""
        return Order(self.columns, not self.descending)

    @property
    def unindexed(self) -> "Order":
        """Return the same order by an expression that no index has."""
        first, *others = self.columns
        kind = first.type.python_type
        same = first + (NO_TIME if kind is datetime else literal("" if kind is str else 0))
        return Order((same, *others), self.descending)

    @property
    def sorting(self) -> list[ColumnElement[Any]]:
        """Return the expressions for ORDER BY."""
        return [column.desc() if self.descending else column.asc() for column in self.columns]

    def follows(self, place: str, argument: str, *, inclusive: bool = False) -> ColumnElement[bool]:
        """Return the condition for the rows after a place; raise `InvalidInput`, naming the argument."""
        here, there = tuple_(*self.columns), tuple_(*self._typed(place, argument))
        if inclusive:
            return here <= there if self.descending else here >= there
        return here < there if self.descending else here > there

    def _typed(self, place: str, argument: str) -> list[ColumnElement[Any]]:
        try:
            pairs = zip(orjson.loads(place), self.columns, strict=True)
            return [literal(_typed(value, column.type.python_type), column.type) for value, column in pairs]
        except (TypeError, ValueError, OverflowError):
            raise invalid_cursor(argument) from None


def _typed(value: object, kind: type) -> Any:
    """Return a value of a place in the type of its column, because JSON has no timestamps."""
    if kind is datetime and isinstance(value, str):
        return datetime.fromisoformat(value).astimezone(UTC)
    is_too_large = isinstance(value, int) and value >= MAX_INTEGER
    if type(value) is not kind or is_too_large or (isinstance(value, str) and "\0" in value):
        raise TypeError
    return value

"""Records that are found by a part of their name."""

from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Select, func
from sqlalchemy.orm import InstrumentedAttribute

Row = TypeVar("Row")


def named(
    statement: Select[Row], name: ColumnElement[Any] | InstrumentedAttribute[Any], text: str, limit: int
) -> Select[Row]:
    """Return the query of the first records whose name contains a text in any case, those that begin with it first."""
    place = func.strpos(func.lower(name), func.lower(text))
    return statement.where(place > 0).order_by(place, func.lower(name)).limit(limit)

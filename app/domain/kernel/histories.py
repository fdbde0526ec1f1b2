"""Parts of histories by time, which the index by id finds, because ids grow with time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    DateTime,
    Select,
    SQLColumnExpression,
    case,
    literal,
    select,
    true,
    tuple_,
)

Query = TypeVar("Query", bound=Select[*tuple[Any, ...]])

DISORDER = timedelta(hours=1)
"""The most by which ids and times of rows may be in different orders."""


def between(
    kind: type[Any], account_id: int, since: datetime | None, until: datetime | None
) -> Sequence[ColumnElement[bool]]:
    """Return the conditions on the rows of an account from `since` to before `until`.

    The rows have columns `id`, `account_id` and `created_at`.
    """
    found: list[ColumnElement[bool]] = []
    if since is not None:
        found += [kind.created_at >= since, kind.id >= _first_id_from(kind, account_id, since - DISORDER)]
    if until is not None:
        found += [kind.created_at < until, kind.id < _first_id_from(kind, account_id, until + DISORDER)]
    return found


def _first_id_from(kind: type[Any], account_id: int, at: datetime) -> ColumnElement[int]:
    """Return the first id from a time on, or the one after the last: a binary search in the index by account."""
    own = kind.account_id == account_id
    first, last = (
        select(kind.id).where(own).order_by(order).limit(1).scalar_subquery() for order in (kind.id, kind.id.desc())
    )
    span = select(first.label("low"), (last + 1).label("high")).cte(recursive=True)
    middle = (span.c.low + span.c.high) // 2
    at_middle = select(kind.id, kind.created_at).where(own, kind.id >= middle).order_by(kind.id).limit(1)
    probe = at_middle.correlate(span).lateral()
    is_before = probe.c.created_at < at
    low, high = case((is_before, probe.c.id + 1), else_=span.c.low), case((is_before, span.c.high), else_=middle)
    narrowed = select(low, high).select_from(span.join(probe, true())).where(span.c.low < span.c.high)
    halves = span.union_all(narrowed)
    found: Select[Any] = select(halves.c.low).where(halves.c.low >= halves.c.high)
    return found.scalar_subquery()


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a history that is sorted by time and id, the newest first."""

    at: datetime
    id: int


def latest(
    statement: Query,
    at: SQLColumnExpression[datetime | None],
    id: SQLColumnExpression[int],
    before: Place | None,
    limit: int,
) -> Query:
    """Return the query of the latest rows before a place, at most `limit`; `at` and `id` are its columns."""
    if before is not None:
        place = literal(before.at, DateTime(timezone=True)), literal(before.id, BigInteger)
        statement = statement.where(tuple_(at, id) < tuple_(*place))
    return statement.order_by(at.desc(), id.desc()).limit(limit)

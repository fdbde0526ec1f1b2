"""Scalars of the contract."""

from datetime import UTC, datetime
from typing import Any, NewType

import strawberry
from graphql import IntValueNode
from strawberry.exceptions import StrawberryInputCoercionError
from strawberry.types.scalar import ScalarDefinition

from app.domain.kernel.events import timestamp

BigInt = NewType("BigInt", int)
LIMIT = 2**63


def _big_int(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -LIMIT <= value < LIMIT:
        raise StrawberryInputCoercionError(f"A BigInt is a whole number of at most 64 bits, not {value!r:.60}.")
    return value


def _big_int_literal(node: Any, _variables: Any = None) -> int:
    if not isinstance(node, IntValueNode):
        raise StrawberryInputCoercionError("A BigInt is written as a whole number.")
    return _big_int(int(node.value))


def _instant(value: Any) -> datetime:
    """Read an instant in UTC; one may be within the years 1 to 9999 where it was written, and beyond them in UTC."""
    try:
        instant = datetime.fromisoformat(value)
        return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise StrawberryInputCoercionError(
            "A DateTime is ISO 8601, such as 2026-11-21T09:30:00Z, and in UTC within the years 1 to 9999, "
            f"not {value!r:.60}."
        ) from None


SCALARS: dict[object, ScalarDefinition] = {
    BigInt: strawberry.scalar(
        name="BigInt",
        description="A whole number of up to 64 bits, written as a JSON number.",
        serialize=int,
        parse_value=_big_int,
        parse_literal=_big_int_literal,
    ),
    datetime: strawberry.scalar(
        name="DateTime",
        description="An instant in ISO 8601, answered in UTC: 2026-11-21T09:30:00.000Z.",
        serialize=timestamp,
        parse_value=_instant,
    ),
}

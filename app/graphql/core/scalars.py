"""Scalars of the contract."""

from datetime import datetime
from typing import NewType

import strawberry
from graphql import IntValueNode
from strawberry.exceptions import StrawberryInputCoercionError
from strawberry.types.scalar import ScalarDefinition

from app.domain.kernel import instants
from app.domain.kernel.events import timestamp

BigInt = NewType("BigInt", int)
LIMIT = 2**63


def _big_int(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -LIMIT <= value < LIMIT:
        raise StrawberryInputCoercionError(f"A BigInt is a whole number of at most 64 bits, not {value!r:.60}.")
    return value


def _big_int_literal(node: object, _variables: object = None) -> int:
    if not isinstance(node, IntValueNode):
        raise StrawberryInputCoercionError("A BigInt is written as a whole number.")
    return _big_int(int(node.value))


def _instant(value: object) -> datetime:
    try:
        if not isinstance(value, str):
            raise TypeError
        return instants.read(value)
    except (TypeError, ValueError):
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
        description=(
            "An instant in ISO 8601, answered in UTC: 2026-11-21T09:30:00.000Z. One before 0001-02-01 counts as that "
            "day, one after 9999-11-30 as that one."
        ),
        serialize=timestamp,
        parse_value=_instant,
    ),
}

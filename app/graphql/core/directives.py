"""Directives and marks of fields: the scope they require, the errors they may return, and what they wait for."""

from typing import Any

import strawberry
from graphql import GraphQLField
from strawberry.schema.schema_converter import GraphQLCoreConverter
from strawberry.schema_directive import Location

ASKS_ANOTHER_SERVICE = {"asks_another_service": True}
"""The metadata of a field of `Query` that waits for the answer of another service, such as a carrier."""


@strawberry.schema_directive(
    locations=[Location.FIELD_DEFINITION], name="scope", description="The scope that a key must hold to use the field."
)
class ScopeNeeded:
    """The scope that a field needs."""

    requires: str = strawberry.field(description="The scope, such as contacts:read.")


@strawberry.schema_directive(
    locations=[Location.FIELD_DEFINITION],
    name="refuses",
    description="The error codes that a field may answer with, beside those that every field may.",
)
class Refusals:
    """The error codes of a field."""

    codes: list[str] = strawberry.field(description="The codes, each explained in the error catalogue.")


@strawberry.schema_directive(
    locations=[Location.ARGUMENT_DEFINITION, Location.INPUT_FIELD_DEFINITION],
    name="constraint",
    description="The limits of a value, of each item where it is a list, and of the number of its items. Other values "
    "are refused.",
)
class Constraint:
    """The limits of an argument or input field: constants of the code that refuses other values."""

    minimum: int | None = strawberry.field(default=strawberry.UNSET, description="The least number.")
    maximum: int | None = strawberry.field(default=strawberry.UNSET, description="The largest number.")
    min_length: int | None = strawberry.field(default=strawberry.UNSET, description="The fewest characters.")
    max_length: int | None = strawberry.field(default=strawberry.UNSET, description="The most characters.")
    pattern: str | None = strawberry.field(
        default=strawberry.UNSET, description="The pattern that the text must match."
    )
    min_items: int | None = strawberry.field(default=strawberry.UNSET, description="The fewest items of a list.")
    max_items: int | None = strawberry.field(default=strawberry.UNSET, description="The most items of a list.")


def guarded(scope: str, *codes: str) -> list[Any]:
    """Return the directives of a root field: the scope it needs, and the codes it refuses with."""
    directives: list[Any] = [ScopeNeeded(requires=scope)]
    return [*directives, Refusals(codes=sorted(codes))] if codes else directives


def scope_of(field: GraphQLField) -> str | None:
    """Return the scope that a field of Strawberry's schema needs."""
    definition = field.extensions.get(GraphQLCoreConverter.DEFINITION_BACKREF)
    found = definition.directives if definition else ()
    return next((each.requires for each in found if isinstance(each, ScopeNeeded)), None)


def asks_another_service(field: GraphQLField) -> bool:
    """Return whether a field of Strawberry's schema is marked with `ASKS_ANOTHER_SERVICE`."""
    definition = field.extensions.get(GraphQLCoreConverter.DEFINITION_BACKREF)
    return bool(definition) and definition.metadata.items() >= ASKS_ANOTHER_SERVICE.items()

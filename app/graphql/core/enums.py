"""Enums of the domain, with the words that the contract has for each value."""

import enum

import strawberry
from strawberry.types.enum import has_enum_definition


def describe(kind: type[enum.Enum], description: str, values: dict[str, str], name: str | None = None) -> None:
    """Enter an enum in the contract; every value needs its sentence, or the process does not start.

    The underscore at the end of a name that is a keyword of Python is left out.
    """
    strawberry.enum(kind, name=name, description=description)
    assert has_enum_definition(kind)
    for value in kind.__strawberry_definition__.values:  # pyrefly: ignore[missing-attribute]
        value.name = value.name.removesuffix("_")
        value.description = values[value.name]

"""Describes the values a setting allows, from its type and limits."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

SECRET = frozenset(
    {
        "database_url",
        "redis_url",
        "secret_key",
        "smtp_url",
        "ai_api_key",
        "stripe_secret_key",
        "stripe_webhook_secret",
        "highlevel_client_secret",
    }
)
"""Settings whose values are never shown, because they may contain passwords."""


def refuse(fields: Mapping[str, FieldInfo], names: Mapping[str, str], fault: ErrorDetails) -> str:
    """Return the message of a pydantic error; a model validator provides its own."""
    if not fault["loc"]:
        return f"{fault['msg'].removeprefix('Value error, ')}."
    name = next(name for name in fields if fault["loc"][0] in (name, names[name]))
    given = fault["input"]
    hidden = name in SECRET or "@" in str(given)
    problem = "is not valid" if hidden else f"cannot be {given or ''!r}"
    return f"{names[name]} {problem}: it must be {allowed(fields[name])}."


def allowed(field: FieldInfo) -> str:
    """Return the allowed values of a setting: its description, or the limits of its type."""
    if field.description:
        return field.description
    if get_origin(field.annotation) is Literal:
        return f"one of {', '.join(get_args(field.annotation))}"
    if get_origin(field.annotation) is tuple:
        return f"numbers {_range(get_args(field.annotation)[0].__metadata__)}, separated by commas"
    kind = "a whole number" if field.annotation is int else "a number"
    return f"{kind} {_range(field.metadata)}"


def _range(metadata: Sequence[Any]) -> str:
    least, above, most = (_limit(metadata, name) for name in ("ge", "gt", "le"))
    digits, decimals = _limit(metadata, "max_digits"), _limit(metadata, "decimal_places")
    if digits is not None:
        most = Decimal(10) ** (digits - decimals) - Decimal(10) ** -decimals
    start = f"from {least} to" if above is None else f"above {above} and at most"
    return f"{start} {most}" + (f", with at most {decimals} decimal places" if decimals else "")


def _limit(metadata: Sequence[Any], name: str) -> Any:
    """Return a limit from the metadata of a field, or None."""
    for each in metadata:
        for part in getattr(each, "metadata", ()) or (each,):
            if (found := getattr(part, name, None)) is not None:
                return found
    return None

"""Messages for usage errors."""

from typing import Any, cast

import typer
from pydantic import ValidationError
from pydantic_core import ErrorDetails

UsageError: Any = typer.BadParameter.__base__
"""Typer's base class of usage errors, which has no public name."""

_KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false"}
_LIMITS = {"greater_than_equal": "{ge} or more", "less_than_equal": "at most {le}"}


def explain(fault: Any) -> str:
    """Return the message of a usage error, with the command that prints the help."""
    help = f"`{fault.ctx.command_path} -h` shows how it is written." if fault.ctx else ""
    return f"{_sentence(fault).removesuffix('.')}. {help}".strip()


def _sentence(fault: Any) -> str:
    if not isinstance(fault.__cause__, ValidationError):
        return str(fault.format_message())
    error = fault.__cause__.errors()[0]
    name = fault.param.get_error_hint().strip("'")
    return f"{name} cannot be {error['input']!r}: it must be {_allowed(error)}."


def _allowed(error: ErrorDetails) -> str:
    kind = error["type"]
    if kind in _LIMITS:
        return _LIMITS[kind].format(**error["ctx"])  # pyright: ignore[reportTypedDictNotRequiredAccess]
    return _KINDS.get(kind.partition("_")[0]) or cast(str, error["msg"]).removeprefix("Input should be ")

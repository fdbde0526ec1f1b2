"""Messages for usage errors."""

from typing import Any

import typer
from pydantic import ValidationError
from pydantic_core import ErrorDetails

UsageError: Any = typer.BadParameter.__base__
"""Typer's base class of usage errors, which has no public name."""

_KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false"}
_CHOICES = " is not one of "
_LIMITS = {"greater_than_equal": "{ge} or more", "less_than_equal": "at most {le}"}


def explain(fault: Any) -> str:
    """Return the message of a usage error, with the command that prints the help."""
    help = f"`{fault.ctx.command_path} -h` shows how it is written." if fault.ctx else ""
    return f"{_ended(_sentence(fault))} {help}".strip()


def _ended(sentence: str) -> str:
    """Return a sentence with one mark at its end; Typer adds a full stop after a question."""
    sentence = sentence.removesuffix(".")
    return sentence if sentence.endswith("?") else f"{sentence}."


def _sentence(fault: Any) -> str:
    if not isinstance(fault.__cause__, ValidationError):
        return str(fault.format_message())
    error = fault.__cause__.errors()[0]
    name = fault.param.get_error_hint().strip("'")
    return f"{name} cannot be {error['input']!r}: it must be {_allowed(error)}."


def _allowed(error: ErrorDetails) -> str:
    kind, message = error["type"], error["msg"]
    if kind in _LIMITS:
        return _LIMITS[kind].format(**error.get("ctx", {}))
    if _CHOICES in message:
        return f"one of {message.partition(_CHOICES)[2].removesuffix('.')}"
    return _KINDS.get(kind.partition("_")[0]) or message.removeprefix("Input should be ")

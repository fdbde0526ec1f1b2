"""Turning what a caller sent into the variables of an operation."""

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from app.operations.json_schema import Json
from app.operations.variables import Variable

MAX_DEPTH = 64

Check = Callable[[Any, str], Any]
"""Takes a value and its name, and returns the value to pass on; raises `Unacceptable`."""

Row = tuple[str, bool, Check]
"""Name, whether it is required, and its check."""


class Unacceptable(ValueError):
    """A value does not fit the operation. The text is a sentence for the caller, and names the value."""


class Acceptor:
    """Checks what was sent against variables, and passes over what is no variable. Made once, at start."""

    def __init__(self, variables: Iterable[Variable]) -> None:
        variables = list(variables)
        self._rows = [(variable.name, variable.required, _check_variable(variable)) for variable in variables]
        self._casts = {variable.name: (variable.many is not None, _cast(variable.single)) for variable in variables}

    def values(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the variables among JSON values; what was left out stays out. Raise `Unacceptable`."""
        return _take(self._rows, given)

    def texts(self, given: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Return the variables among texts, of which a list takes all, and any other the last. Raise `Unacceptable`."""
        read = {
            name: [cast(text) for text in given[name]] if many else cast(given[name][-1])
            for name, (many, cast) in self._casts.items()
            if name in given
        }
        return _take(self._rows, read)


def _take(rows: Iterable[Row], given: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    taken: dict[str, Any] = {}
    for name, required, check in rows:
        if name in given:
            taken[name] = check(given[name], prefix + name)
        elif required:
            raise Unacceptable(f"{prefix}{name} is required.")
    return taken


def _check_variable(variable: Variable) -> Check:
    check = _check(variable.schema)
    return _leniently(check) if variable.lenient else check


def _leniently(check: Check) -> Check:
    def lenient(value: Any, name: str) -> Any:
        try:
            return check(value, name)
        except Unacceptable:
            return None

    return lenient


def _check(schema: Json) -> Check:
    options: list[Json] = schema.get("anyOf", [schema])
    check = _option(options[0])
    for option in options[1:]:
        if option["type"] == "array":
            check = _list_or_single(_check(option["items"]), check, options[0])
    takes_null = any("null" in option["type"] for option in options)
    return _nullable(check) if takes_null else _present(check)


def _option(schema: Json) -> Check:
    if "enum" in schema:
        return _one_of(schema["enum"])
    if "properties" in schema:
        return _object(schema)
    return _LEAVES[schema.get("format") or _kind(schema)]


def _kind(schema: Json) -> str:
    return "any" if isinstance(schema["type"], list) else schema["type"]


def _nullable(check: Check) -> Check:
    return lambda value, name: None if value is None else check(value, name)


def _present(check: Check) -> Check:
    def present(value: Any, name: str) -> Any:
        if value is None:
            raise Unacceptable(f"{name} must not be null.")
        return check(value, name)

    return present


def _list_or_single(item: Check, single: Check, schema: Json) -> Check:
    kind = _kind(schema)

    def check(value: Any, name: str) -> list[Any]:
        if isinstance(value, list):
            return [item(one, f"{name}[{index}]") for index, one in enumerate(value)]
        if isinstance(value, _PYTHON[kind]):
            return [single(value, name)]
        raise Unacceptable(f"{name} must be an array of {_PLURALS[kind]}.")

    return check


def _one_of(names: Sequence[str]) -> Check:
    known = frozenset(names)

    def check(value: Any, name: str) -> str:
        if not isinstance(value, str) or value not in known:
            raise Unacceptable(f"{name} must be one of {', '.join(names)}.")
        return value

    return check


def _object(schema: Json) -> Check:
    rows: list[Row] = [
        (name, name in schema["required"], _check(member)) for name, member in schema["properties"].items()
    ]

    def check(value: Any, name: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Unacceptable(f"{name} must be an object.")
        return _take(rows, value, f"{name}.")

    return check


def _string(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise Unacceptable(f"{name} must be a string.")
    if "\0" in value or not (value.isascii() or _is_encodable(value)):
        raise Unacceptable(f"{name} must not hold the character U+{_first_unstorable(value):04X}.")
    return value


def _is_encodable(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _first_unstorable(value: str) -> int:
    """Return the first character that PostgreSQL cannot store: NUL, or half of a surrogate pair."""
    return next(ord(character) for character in value if character == "\0" or "\ud800" <= character <= "\udfff")


def _date_time(value: Any, name: str) -> str:
    try:
        if datetime.fromisoformat(value).tzinfo:
            return value
    except (TypeError, ValueError):
        pass
    raise Unacceptable(f"{name} must be a date and time with an offset, such as 2026-01-31T09:30:00Z.")


def _integer(bits: int) -> Check:
    least, most = -(1 << bits - 1), (1 << bits - 1) - 1

    def check(value: Any, name: str) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise Unacceptable(f"{name} must be an integer.")
        if not least <= value <= most:
            raise Unacceptable(f"{name} must be an integer from {least} to {most}.")
        return value

    return check


def _number(value: Any, name: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= sys.float_info.max:
        raise Unacceptable(f"{name} must be a number.")
    return value


def _boolean(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise Unacceptable(f"{name} must be true or false.")
    return value


def _any(value: Any, name: str, depth: int = 1) -> Any:
    if isinstance(value, str):
        return _string(value, name)
    if not isinstance(value, list | dict):
        return value
    if depth > MAX_DEPTH:
        raise Unacceptable(f"{name} must not be nested deeper than {MAX_DEPTH} levels.")
    for one in value.values() if isinstance(value, dict) else value:
        _any(one, name, depth + 1)
    for key in value if isinstance(value, dict) else ():
        _string(key, name)
    return value


_LEAVES: dict[str, Check] = {
    "any": _any,
    "boolean": _boolean,
    "date-time": _date_time,
    "int32": _integer(32),
    "int64": _integer(64),
    "number": _number,
    "string": _string,
}

_PYTHON: dict[str, type | tuple[type, ...]] = {
    "any": object,
    "boolean": bool,
    "integer": (int, float),
    "number": (int, float),
    "object": dict,
    "string": str,
}

_PLURALS = {
    "boolean": "booleans",
    "integer": "integers",
    "number": "numbers",
    "object": "objects",
    "string": "strings",
}

_INTEGER = re.compile(r"-?\d{1,40}", re.ASCII)
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", re.ASCII)
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def _cast(schema: Json) -> Callable[[str], Any]:
    return _CASTS.get(_kind(schema), str)


# A text that cannot be cast stays as it is: the check that follows says what it must be.
_CASTS: dict[str, Callable[[str], Any]] = {
    "boolean": lambda text: _BOOLEANS.get(text, text),
    "integer": lambda text: int(text) if _INTEGER.fullmatch(text) else text,
    "number": lambda text: float(text) if _NUMBER.fullmatch(text) else text,
}

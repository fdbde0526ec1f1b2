"""Validation of the values that callers send for the variables of an operation."""

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any

from app.operations.forms import is_blank, read_text
from app.operations.json_schema import DEFINITIONS, Json
from app.operations.variables import Variable

MAX_DEPTH = 64
TOO_DEEP = f"must not be nested deeper than {MAX_DEPTH} levels."
MAX_NAME = 60
"""The number of characters of an unknown name that an error repeats."""

Check = Callable[[Any, str], Any]
"""Checks a value with its name, and returns the converted value; raises `Unacceptable`."""

Row = tuple[str, bool, Check]
"""The name of a variable, whether it is required, and its check."""


class Unacceptable(ValueError):
    """The value called `field` does not fit the operation. The text is a sentence for the caller, and names it."""

    def __init__(self, field: str, fault: str) -> None:
        """Store the name of the value, and the rest of the sentence."""
        super().__init__(f"{field} {fault}")
        self.field = field


class Unattested(ValueError):
    """A required attestation is missing; the text is the code of its error."""


class Acceptor:
    """Checks the values of variables. Created once, at start.

    Members that are no variable are ignored, unless it is `strict`: then they are refused, a list takes no single
    value, and the limits of the schema apply, so that exactly the values that the schema of a tool describes pass.
    Other surfaces leave the limits to the domain, whose errors are more specific; with `closed`, they refuse unknown
    members as well. With `forms`, it reads the values that form tools send as they mean it: see `forms` of the
    directive `@rest`.
    """

    def __init__(
        self, variables: Iterable[Variable], *, forms: bool = False, strict: bool = False, closed: bool = False
    ) -> None:
        variables = list(variables)
        self._closed = closed or strict
        self._rows = [(each.name, each.required, self._check(each, strict)) for each in variables]
        self._casts = {variable.name: (variable.many is not None, _cast(variable.single)) for variable in variables}
        self._attested = [(variable.name, variable.attested) for variable in variables if variable.attested]
        self._forms = {variable.name: variable for variable in variables} if forms else {}

    def _check(self, variable: Variable, strict: bool) -> Check:
        return _Checks(variable.types, strict=strict, closed=self._closed).make(variable.schema)

    def values(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the variables of a JSON object, without omitted ones.

        Raise `Unacceptable`, and before that `Unattested`.
        """
        for name, code in self._attested:
            if given.get(name) is not True:
                raise Unattested(code)
        return _take(self._rows, self._filled_in(given), closed=self._closed)

    def texts(self, given: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Return the variables of texts: all texts for a list, otherwise the last one. Raises `Unacceptable`."""
        read = {
            name: [cast(text) for text in given[name]] if many else cast(given[name][-1])
            for name, (many, cast) in self._casts.items()
            if name in given
        }
        return _take(self._rows, self._filled_in(read))

    def _filled_in(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the non-empty fields of a form; any other value unchanged."""
        if not self._forms:
            return given
        return {
            name: read_text(variable.single, value.strip(" ")) if _is_spelled(variable, value) else value
            for name, variable in self._forms.items()
            if name in given and not (is_blank(value := given[name]) and not variable.required)
        }


def _is_spelled(variable: Variable, value: object) -> bool:
    """Return whether a text represents a value that is not a text."""
    return isinstance(value, str) and variable.single["type"] != "string"


def _take(rows: Sequence[Row], given: Mapping[str, Any], prefix: str = "", *, closed: bool = False) -> dict[str, Any]:
    taken: dict[str, Any] = {}
    for name, required, check in rows:
        if name in given:
            taken[name] = check(given[name], prefix + name)
        elif required:
            raise Unacceptable(f"{prefix}{name}", "is required.")
    if closed and len(taken) < len(given):
        raise _unknown(next(name for name in given if name not in taken), [name for name, _, _ in rows], prefix)
    return taken


def _unknown(name: str, known: Sequence[str], prefix: str) -> Unacceptable:
    nearest = get_close_matches(name, known, n=1)
    hint = f" Did you mean {prefix}{nearest[0]}?" if nearest else ""
    return Unacceptable(f"{prefix}{name[:MAX_NAME]}", f"is not known.{hint}")


class _Checks:
    """Creates the checks of schemas, which may refer to named types."""

    def __init__(self, types: Mapping[str, Json], *, strict: bool, closed: bool) -> None:
        self._types = types
        self._strict = strict
        self._closed = closed
        self._made: dict[str, Check] = {}

    def make(self, schema: Json) -> Check:
        """Return the check of a schema."""
        options: list[Json] = schema.get("anyOf", [schema])
        check = self._option(options[0])
        for option in options[1:]:
            if option["type"] == "array":
                single = None if self._strict else check
                check = _list_or_single(self.make(option["items"]), single, options[0])
        takes_null = any("null" in option["type"] for option in options)
        return _nullable(check) if takes_null else _present(check)

    def _option(self, schema: Json) -> Check:
        if "enum" in schema:
            return _one_of(schema["enum"])
        if "$ref" in schema:
            return self._referred(schema["$ref"].removeprefix(DEFINITIONS))
        if "properties" in schema:
            return self._object(schema)
        leaf = _LEAVES[schema.get("format") or _kind(schema)]
        return _within(schema, leaf) if self._strict else leaf

    def _referred(self, type_name: str) -> Check:
        def check(value: object, name: str) -> Any:
            if name.count(".") + name.count("[") > MAX_DEPTH:
                raise Unacceptable(name.partition(".")[0], TOO_DEEP)
            if type_name not in self._made:
                self._made[type_name] = self._object(self._types[type_name])
            return self._made[type_name](value, name)

        return check

    def _object(self, schema: Json) -> Check:
        rows = [(name, name in schema["required"], self.make(member)) for name, member in schema["properties"].items()]

        def check(value: object, name: str) -> dict[str, Any]:
            if not isinstance(value, dict):
                raise Unacceptable(name, "must be an object.")
            return _take(rows, value, f"{name}.", closed=self._closed)

        return check


def _kind(schema: Json) -> str:
    return "any" if isinstance(schema["type"], list) else schema["type"]


def _nullable(check: Check) -> Check:
    return lambda value, name: None if value is None else check(value, name)


def _present(check: Check) -> Check:
    def present(value: object, name: str) -> Any:
        if value is None:
            raise Unacceptable(name, "must not be null.")
        return check(value, name)

    return present


def _list_or_single(item: Check, single: Check | None, schema: Json) -> Check:
    kind = _kind(schema)

    def check(value: object, name: str) -> list[Any]:
        if isinstance(value, list):
            return [item(one, f"{name}[{index}]") for index, one in enumerate(value)]
        if single and isinstance(value, _PYTHON[kind]):
            return [single(value, name)]
        raise Unacceptable(name, f"must be an array of {_PLURALS[kind]}.")

    return check


def _within(schema: Json, leaf: Check) -> Check:
    """Return a check that applies the limits of a schema, if it has any."""
    limits = [find_fault for keyword, find_fault in _LIMITS.items() if keyword in schema]
    if not limits:
        return leaf

    def check(value: object, name: str) -> Any:
        taken = leaf(value, name)
        for find_fault in limits:
            if fault := find_fault(taken, schema):
                raise Unacceptable(name, fault)
        return taken

    return check


def _one_of(names: Sequence[str]) -> Check:
    known = frozenset(names)

    def check(value: object, name: str) -> str:
        if not isinstance(value, str) or value not in known:
            raise Unacceptable(name, f"must be one of {', '.join(names)}.")
        return value

    return check


def _string(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise Unacceptable(name, "must be a string.")
    if "\0" in value or not (value.isascii() or _is_encodable(value)):
        raise Unacceptable(name, f"must not hold the character U+{_first_unstorable(value):04X}.")
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


def _date_time(value: object, name: str) -> str:
    if isinstance(value, str):
        with suppress(ValueError, OverflowError):
            instant = datetime.fromisoformat(value)
            if instant.tzinfo and instant.astimezone(UTC):
                return value
    raise Unacceptable(name, "must be a date and time with an offset, such as 2026-01-31T09:30:00Z.")


def _integer(bits: int) -> Check:
    least, most = -(1 << bits - 1), (1 << bits - 1) - 1

    def check(value: object, name: str) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise Unacceptable(name, "must be an integer.")
        if not least <= value <= most:
            raise Unacceptable(name, f"must be an integer from {least} to {most}.")
        return value

    return check


def _number(value: object, name: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= sys.float_info.max:
        raise Unacceptable(name, "must be a number.")
    return value


def _boolean(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise Unacceptable(name, "must be true or false.")
    return value


def _any(value: object, name: str, depth: int = 1) -> Any:
    if isinstance(value, str):
        return _string(value, name)
    if not isinstance(value, (list, dict)):
        return value
    if depth > MAX_DEPTH:
        raise Unacceptable(name, TOO_DEEP)
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

_LIMITS: dict[str, Callable[[Any, Json], str | None]] = {
    "minimum": lambda value, schema: f"must be {_range(schema)}." if value < schema["minimum"] else None,
    "maximum": lambda value, schema: f"must be {_range(schema)}." if value > schema["maximum"] else None,
    "minLength": lambda value, schema: _too_short(schema) if len(value) < schema["minLength"] else None,
    "maxLength": lambda value, schema: (
        f"must have at most {schema['maxLength']} characters." if len(value) > schema["maxLength"] else None
    ),
    "pattern": lambda value, schema: (
        None if re.search(schema["pattern"], value) else f"must match the pattern {schema['pattern']}."
    ),
}
"""The fault of a value beyond each limit."""


def _range(schema: Json) -> str:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is None or most is None:
        return f"at least {least}" if most is None else f"at most {most}"
    return f"from {least} to {most}"


def _too_short(schema: Json) -> str:
    least = schema["minLength"]
    return "must not be empty." if least == 1 else f"must have at least {least} characters."


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


def _cast(schema: Json) -> Callable[[str], Any]:
    """Return the parser of a text; an invalid text stays unchanged, and the following check reports it."""
    return lambda text: read_text(schema, text)

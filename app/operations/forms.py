"""Values of form tools: texts for other types, and empty fields."""

import re
from collections.abc import Callable
from typing import Any

from app.operations.json_schema import Json
from app.operations.variables import Variable

_TEXTS = {"boolean": "true|false|1|0", "integer": "-?[0-9]{1,40}", "number": "-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?"}
"""The text form of the values of each type."""

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_READ: dict[str, Callable[[str], Any]] = {"boolean": _BOOLEANS.__getitem__, "integer": int, "number": float}
_PATTERNS = {kind: re.compile(text) for kind, text in _TEXTS.items()}


def is_blank(value: object) -> bool:
    """Return whether a field is empty: a text of spaces only, or a list of such texts."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(one, str) and is_blank(one) for one in value)
    return isinstance(value, str) and not value.strip(" ")


def read_text(schema: Json, text: str) -> Any:
    """Return the boolean or number of a text, if the schema has that type; any other text unchanged."""
    kind = schema["type"]
    pattern = _PATTERNS.get(kind) if isinstance(kind, str) else None
    return _READ[kind](text) if pattern and pattern.fullmatch(text) else text


def form_schema(variable: Variable) -> Json:
    """Return the schema of a variable in a form: its values, their texts, and empty ones unless it is required."""
    single = variable.single
    text = _TEXTS.get(single["type"]) if isinstance(single["type"], str) else None
    is_plain = single["type"] == "string" and "enum" not in single and "format" not in single
    if is_plain or (variable.required and text is None):
        return variable.schema
    spelled = [f" *({text}) *"] if text else []
    blank = [] if variable.required else [" *"]
    notes = {note: variable.schema[note] for note in ("default", "description") if note in variable.schema}
    options = [{name: value for name, value in option.items() if name not in notes} for option in variable.options]
    return {"anyOf": [*options, {"type": "string", "pattern": f"^({'|'.join(spelled + blank)})$"}]} | notes

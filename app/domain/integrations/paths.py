"""Paths into JSON, such as `contact.phones[0].value`."""

import re
from typing import Any, cast

from app.domain.kernel.errors import InvalidInput

MAX_LENGTH, MAX_VALUE = 200, 2000

ROOT = "$."
"""The beginning of a path in JSONPath (RFC 9535); here a path needs none."""

_path = re.compile(r"[^.\[\]]+(?:\[\d{1,4}\])*(?:\.[^.\[\]]+(?:\[\d{1,4}\])*)*")
_step = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


def check(path: str, field: str) -> str:
    """Return a trimmed path, without the root of JSONPath; raise `InvalidInput`."""
    path = path.strip().removeprefix(ROOT)
    if len(path) > MAX_LENGTH or not _path.fullmatch(path):
        raise InvalidInput(
            reason=f"{field} must be a path such as contact.phones[0].value, of at most {MAX_LENGTH} characters.",
            field=field,
        )
    return path


def pick(source: object, path: str) -> str:
    """Return the value at a path as text; empty where there is none, or a structure."""
    found: Any = source
    for index, name in _step.findall(path):
        found = _item(found, int(index)) if index else _member(found, name)
    if found is None or isinstance(found, (dict, list)):
        return ""
    shown = str(found).lower() if isinstance(found, bool) else str(cast("object", found))
    return shown.replace("\0", "").strip()[:MAX_VALUE]


def _member(value: object, name: str) -> object:
    return cast("dict[str, object]", value).get(name) if isinstance(value, dict) else None


def _item(value: object, index: int) -> object:
    items = cast("list[object]", value) if isinstance(value, list) else []
    return items[index] if index < len(items) else None

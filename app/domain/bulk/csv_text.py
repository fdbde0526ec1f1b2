"""Writes CSV that is safe to open in a spreadsheet."""

import csv
import io
import re
from collections.abc import Iterable, Sequence

PHONE = re.compile(r"\+[0-9]{3,15}")
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write(rows: Iterable[Sequence[object]]) -> bytes:
    """Return rows as CSV in UTF-8; an apostrophe precedes a text that a spreadsheet would take for a formula."""
    out = io.StringIO()
    csv.writer(out).writerows([_safe(value) for value in row] for row in rows)
    return out.getvalue().encode(errors="replace")


def _safe(value: object) -> object:
    if isinstance(value, str) and value.startswith(FORMULA) and not PHONE.fullmatch(value):
        return f"'{value}"
    return value

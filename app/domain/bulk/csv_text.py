"""Writes CSV that is safe to open in a spreadsheet, and reads the cells of such files."""

import csv
import io
import re
from collections.abc import Iterable, Sequence

PHONE = re.compile(r"\+[0-9]{3,15}")
BEGIN = r"(?:^|(?<=[;|\t\r\n]))"
"""The beginning of a cell: of the text, or after a character that ends one in the spreadsheets of some countries."""

STARTS = r"(?=[=+\-@\t\r\uff1d\uff0b\uff0d\uff20])"
FORMULA = re.compile(f"{BEGIN}{STARTS}")
"""The place of an apostrophe: before the first character of a formula, also in the wide form of East Asian scripts."""

QUOTED = re.compile(f"{BEGIN}'{STARTS}")


def write(rows: Iterable[Sequence[object]]) -> bytes:
    """Return rows as CSV in UTF-8; an apostrophe precedes what a spreadsheet would take for a formula."""
    out = io.StringIO()
    csv.writer(out).writerows([_safe(value) for value in row] for row in rows)
    return out.getvalue().encode(errors="replace")


def read(cell: str) -> str:
    """Return a text without the apostrophes of `write`."""
    return QUOTED.sub("", cell)


def _safe(value: object) -> object:
    return FORMULA.sub("'", value) if isinstance(value, str) and not PHONE.fullmatch(value) else value

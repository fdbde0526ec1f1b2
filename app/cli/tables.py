"""Values of operations as text: tables for lists, lines for records, JSON for programs."""

import re
from collections.abc import Mapping, Sequence
from textwrap import indent
from typing import Any, TypeGuard, cast

import orjson

NODES, TOTAL, EXACT, PAGE = "nodes", "total_count", "total_is_exact", "page_info"
EMPTY = "There are none."
PLAIN_WIDTH = 400
"""The table width without a terminal."""

SHOWN = 3
"""Maximum number of a list's items in a table cell; JSON has all."""

DETAILS = frozenset({"gates", "passages"})
"""Members of a row that explain it, and that a table leaves out; JSON has them."""

INSTANT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{3}Z")


class Named(dict[str, Any]):
    """Values whose names are data, such as settings: they are printed with their names, also a single one."""


def as_json(value: object) -> str:
    """Return a value as JSON."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def as_text(value: object) -> str:
    """Return a value as text: a table for a list, a line for each field of a record."""
    if isinstance(value, Mapping):
        return _page(value) if NODES in value else _record(value)
    return _table(value) if isinstance(value, Sequence) and not isinstance(value, str) else _cell(value)


def _page(page: Mapping[str, Any]) -> str:
    nodes, more = page[NODES], page.get(PAGE, {})
    if not more.get("has_next_page"):
        return _table(nodes)
    total = f"{page[TOTAL]:,}" if page[EXACT] else f"more than {page[TOTAL]:,}"
    return f"{_table(nodes)}\n{len(nodes)} of {total}. Go on with --after {more['end_cursor']}"


def _table(rows: Sequence[Any]) -> str:
    if not rows:
        return EMPTY
    if not isinstance(rows[0], Mapping):
        return "\n".join(_cell(row) for row in rows)
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in rows[0]:
        if name not in DETAILS:
            table.add_column(name, overflow="fold")
    for row in rows:
        table.add_row(*(Text(_short(value)) for name, value in row.items() if name not in DETAILS))
    console = Console()
    if not console.is_terminal:
        console = Console(width=PLAIN_WIDTH)
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _record(record: Mapping[str, Any]) -> str:
    return "\n".join(_field(name, value) for name, value in record.items())


def _field(name: str, value: object) -> str:
    """Return a field on one line, or below its name its records, or its texts with commas, one on a line."""
    if _is_words(value) and any("," in each for each in value):
        return f"{name}\n{indent(_table(value), '  ')}"
    if _has_records(value):
        return f"{name}\n{indent(as_text(value), '  ')}"
    return f"{name:20} {_cell(value)}".rstrip()


def _has_records(value: object) -> bool:
    """Return whether a value is a record of several fields, or a list of records."""
    if isinstance(value, Mapping):
        return len(cast("Mapping[str, Any]", value)) > (0 if isinstance(value, Named) else 1)
    return isinstance(value, list) and bool(value) and isinstance(value[0], Mapping)


def _short(value: object) -> str:
    """Return a value for a table cell: the first items of a list, a timestamp to the second in UTC."""
    if _is_words(value) and len(value) > SHOWN:
        return f"{', '.join(value[:SHOWN])} and {len(value) - SHOWN} more"
    text = _cell(value)
    return INSTANT.sub(r"\1 \2", text)


def _cell(value: object) -> str:
    """Return a value on one line, with control characters replaced by spaces, because names are untrusted."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping) and len(value) == 1 and not isinstance(value, Named):
        return _cell(*value.values())
    if isinstance(value, (Mapping, list)):
        text = ", ".join(value) if _is_words(value) else orjson.dumps(value).decode()
    else:
        text = str(value)
    return "".join(character if character.isprintable() else " " for character in text)


def _is_words(value: object) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)

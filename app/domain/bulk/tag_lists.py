"""Writes the tags of a contact in a cell of a file, and reads them."""

import re
from collections.abc import Iterable

QUOTE, QUOTED = '"', re.compile('[",;|]')
TAG = re.compile(r'\s*"((?:[^"]|"")*)"\s*(?:[,;|]|$)|([^,;|]*)(?:[,;|]|$)')
"""A tag in double quotes, in which a quote is doubled, or one without separators; and its end."""


def write(tags: Iterable[str]) -> str:
    """Return tags separated by commas; a tag with a separator or a double quote is in double quotes."""
    return ",".join(f'"{tag.replace(QUOTE, QUOTE * 2)}"' if QUOTED.search(tag) else tag for tag in tags)


def read(text: str) -> list[str]:
    """Return the tags of a text that separates them by commas, semicolons or bars."""
    tags = [quoted.replace(QUOTE * 2, QUOTE) or plain for quoted, plain in TAG.findall(text)]
    return [tag for each in tags if (tag := each.strip())]

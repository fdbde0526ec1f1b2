"""Reads the rows of CSV files: their delimiter, header and quotes."""

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple

from app.domain.bulk.texts import MAX_LINE, UnreadableFile

DELIMITERS = ",;\t|"
MAX_COLUMNS = 200
SAMPLE_ROWS = 20
SAMPLE_LINES = 200

MAX_ROW = MAX_LINE
"""The characters of a row, which quotes spread over lines: the reader holds all of its cells at a time."""

DIRECTIVE = re.compile(r'sep=(\t|[^\s"])\s*', re.IGNORECASE)
"""The first line `sep=;` with the delimiter, which Excel writes."""


class Row(NamedTuple):
    """A row with its number in the file, from 1; `fault` says why its cells could not be read."""

    number: int
    cells: list[str]
    fault: str = ""


@dataclass(slots=True)
class BoundedRows:
    """Yields the lines of rows; raises `UnreadableFile` when row `number` has more than `MAX_ROW` characters."""

    lines: Iterator[str]
    number: int = 0
    length: int = 0

    def __iter__(self) -> Iterator[str]:
        """Return itself."""
        return self

    def __next__(self) -> str:
        """Return the next line of the row."""
        line = next(self.lines)
        self.length += len(line.rstrip("\n"))
        if self.length > MAX_ROW:
            raise UnreadableFile(
                reason=f"Row {self.number} has more than {MAX_ROW:,} characters. Close the quotes that begin in or "
                "before it, and upload the file again."
            )
        return line

    def begin(self) -> int:
        """Begin the next row, and return its number."""
        self.number, self.length = self.number + 1, 0
        return self.number


def read(lines: Iterable[str], delimiter: str) -> Iterator[Row]:
    """Yield the rows that have a cell that is not blank; raise `UnreadableFile` where no end of a row is found."""
    bounded = BoundedRows(_without_directive(lines))
    reader = csv.reader(bounded, delimiter=delimiter, strict=True)
    while True:
        number = bounded.begin()
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as fault:
            yield Row(number, [], _explain(str(fault), number))
            continue
        if len(cells) > MAX_COLUMNS:
            yield Row(number, [], f"The row has {len(cells):,} columns; {MAX_COLUMNS} is the most.")
        elif any(map(str.strip, cells)):
            yield Row(number, cells)


def find_delimiter(lines: Iterable[str]) -> str:
    """Return the delimiter by which the first rows have the same number of columns, and most of them."""
    head = list(_sample(lines))
    if head and (directive := DIRECTIVE.fullmatch(head[0])):
        return directive[1]
    return max(DELIMITERS, key=lambda each: _regularity(head, each))


def _sample(lines: Iterable[str]) -> Iterator[str]:
    """Yield the first lines, with at most `MAX_LINE` characters beside their newlines."""
    length = 0
    for line in islice(lines, SAMPLE_LINES):
        length += len(line.rstrip("\n"))
        if length > MAX_LINE:
            return
        yield line


def _regularity(head: list[str], delimiter: str) -> tuple[int, int]:
    try:
        rows = list(islice(csv.reader(head, delimiter=delimiter), SAMPLE_ROWS))
    except csv.Error:
        return 0, 0
    widths = [len(row) for row in rows if row]
    width = widths[0] if widths else 0
    return (sum(each == width for each in widths), width) if width > 1 else (0, 0)


def _without_directive(lines: Iterable[str]) -> Iterator[str]:
    """Return the lines; a directive becomes blank."""
    rest = iter(lines)
    first = next(rest, "")
    return chain(["\n" if DIRECTIVE.fullmatch(first) else first], rest)


def _explain(fault: str, number: int) -> str:
    """Return the reason of a row; raise `UnreadableFile` for a fault that concerns the rows after it."""
    if "field larger" in fault or "end of data" in fault:
        raise UnreadableFile(
            reason=f"The quotes that begin in or after row {number} do not end. Close them, and upload the file again."
        )
    return "The row has text after a closing quote. Write a quote within quotes twice."

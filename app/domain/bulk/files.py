"""Finds the format of an uploaded file, and reads its rows."""

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from app.domain.bulk import mapping, tables, texts, vcards
from app.domain.bulk.tables import MAX_COLUMNS, SAMPLE_ROWS, Row
from app.domain.bulk.texts import ENCODINGS, UTF8_BOM, UnreadableFile
from app.domain.contacts.models import CustomField
from app.domain.kernel.errors import InvalidInput

Parts = Callable[[], Iterable[bytes]]
"""Opens a file: an iteration over its parts from the beginning."""

SHOWN = 3
"""The number of sample values of a column."""


class FileKind(enum.StrEnum):
    """The kind of an uploaded file."""

    csv = enum.auto()
    vcard = enum.auto()


@dataclass(frozen=True, slots=True)
class Wanted:
    """The parts of a format that a caller prescribes; None leaves it to the detection."""

    encoding: str | None = None
    delimiter: str | None = None
    has_header: bool | None = None
    columns: Mapping[int, str] | None = None

    def __post_init__(self) -> None:
        """Raise `InvalidInput` for an unknown encoding or delimiter."""
        if self.encoding not in (None, UTF8_BOM, *ENCODINGS):
            raise InvalidInput(reason=f"encoding must be one of {', '.join(ENCODINGS)}.", field="encoding")
        if self.delimiter is not None and self.delimiter not in (*tables.DELIMITERS, ":"):
            raise InvalidInput(reason="delimiter must be a comma, semicolon, tab, bar or colon.", field="delimiter")


@dataclass(frozen=True, slots=True)
class Column:
    """A column with its name, which is empty without a header, and the field of contacts that it has, if any."""

    index: int
    name: str
    samples: list[str]
    field: str


@dataclass(frozen=True, slots=True)
class Format:
    """The format of a file. `fields` has the field of each column, or an empty text."""

    kind: FileKind
    encoding: str
    delimiter: str
    has_header: bool
    fields: list[str]

    @property
    def sentence(self) -> str:
        """Return the format in words."""
        encoding = {"cp1252": "Windows-1252", UTF8_BOM: "UTF-8"}.get(self.encoding, self.encoding.upper())
        if self.kind == FileKind.vcard:
            return f"Read as vCard in {encoding}."
        delimiter = {"\t": "tabs"}.get(self.delimiter, f"'{self.delimiter}'")
        header = "with a header" if self.has_header else "without a header"
        return f"Read as CSV in {encoding}, separated by {delimiter}, {header}."


def inspect(
    parts: Parts, wanted: Wanted, known: Sequence[CustomField], *, is_whole: bool = True
) -> tuple[Format, list[Column]]:
    """Return the format and the columns of a file, or of its beginning; raise `UnreadableFile`."""
    encoding = wanted.encoding or texts.find_encoding(parts(), is_whole=is_whole)
    head = "".join(islice(_lines(parts, encoding), 5))
    if vcards.is_vcard(head):
        format = Format(FileKind.vcard, encoding, "", False, vcards.FIELDS)
        return format, _columns(vcards.FIELDS, list(islice(read(parts, format), SAMPLE_ROWS)), vcards.FIELDS)
    delimiter = wanted.delimiter or tables.find_delimiter(_lines(parts, encoding))
    rows = list(islice(tables.read(_lines(parts, encoding), delimiter), SAMPLE_ROWS))
    if not rows:
        raise UnreadableFile(reason="The file has no rows.")
    if not rows[0].cells:
        raise UnreadableFile(reason=f"The first row cannot be read: {rows[0].fault}")
    first = rows[0].cells
    has_header = mapping.is_header(first, known) if wanted.has_header is None else wanted.has_header
    names = [name.strip() for name in first] if has_header else [""] * len(first)
    samples = rows[1:] if has_header else rows
    fields = mapping.propose(names, [row.cells for row in samples], known)
    if wanted.columns is not None:
        fields = mapping.check(wanted.columns, min(len(first), MAX_COLUMNS), known)
    return Format(FileKind.csv, encoding, delimiter, has_header, fields), _columns(names, samples, fields)


def read(parts: Parts, format: Format) -> Iterator[Row]:
    """Yield the rows of a file without its header."""
    lines = _lines(parts, format.encoding)
    if format.kind == FileKind.vcard:
        return vcards.read(lines)
    return islice(tables.read(lines, format.delimiter), int(format.has_header), None)


def _lines(parts: Parts, encoding: str) -> Iterator[str]:
    """Yield the lines of a file without its byte order mark; the file is opened with the first of them."""
    for number, line in enumerate(texts.split(texts.decode(parts(), encoding))):
        yield line if number else line.removeprefix("\ufeff")


def _columns(names: Sequence[str], rows: Sequence[Row], fields: Sequence[str]) -> list[Column]:
    return [
        Column(index, name[:100], [row.cells[index][:100] for row in rows if index < len(row.cells)][:SHOWN], field)
        for index, (name, field) in enumerate(zip(names, fields, strict=True))
    ]

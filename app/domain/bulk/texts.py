"""Decodes files of unknown encoding in pieces, and splits them into lines of bounded length."""

import codecs
import io
from collections.abc import Iterable, Iterator

from app.domain.kernel.errors import DomainError

MAX_LINE, MAX_LINES = 1_000_000, 2_000_000
UTF8, UTF8_BOM, WINDOWS = "utf-8", "utf-8-sig", "cp1252"
ENCODINGS = (UTF8, "utf-16", "utf-16-le", "utf-16-be", WINDOWS)
BOMS = {codecs.BOM_UTF8: UTF8_BOM, codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
MANY_ZEROS = 0.3
"""The share of zero bytes at odd or even places from which a text is taken for UTF-16."""


class UnreadableFile(DomainError):
    """The file is malformed: the end of its rows cannot be found. Nothing of it was imported."""

    code = "unreadable_file"
    status = 422
    message = "{reason}"


def _as_latin(fault: UnicodeError) -> tuple[str, int]:
    """Read the bytes that Windows-1252 leaves undefined as Latin-1."""
    assert isinstance(fault, UnicodeDecodeError)
    return fault.object[fault.start : fault.end].decode("latin-1"), fault.end


codecs.register_error("as_latin", _as_latin)


def guess_encoding(head: bytes) -> str | None:
    """Return the encoding that the first bytes of a text prove; None for UTF-8 or Windows-1252."""
    for bom, encoding in BOMS.items():
        if head.startswith(bom):
            return encoding
    sample = head[:4096]
    for start, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        places = sample[start::2]
        if places and places.count(0) > MANY_ZEROS * len(places):
            return encoding
    return None


def find_encoding(parts: Iterable[bytes], *, is_whole: bool = True) -> str:
    """Return the encoding of a text, or of its beginning: UTF-8 only if all of it is."""
    decoder = codecs.getincrementaldecoder(UTF8)("strict")
    try:
        for number, part in enumerate(parts):
            if number == 0 and (proved := guess_encoding(part)):
                return proved
            decoder.decode(part)
        decoder.decode(b"", final=is_whole)
    except UnicodeDecodeError:
        return WINDOWS
    return UTF8


def decode(parts: Iterable[bytes], encoding: str) -> Iterator[str]:
    """Yield the text of bytes; line ends become newlines, and invalid bytes become U+FFFD."""
    errors = "as_latin" if encoding == WINDOWS else "replace"
    text = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(encoding)(errors), translate=True)
    for part in parts:
        yield text.decode(part)
    yield text.decode(b"", final=True)


def split(chunks: Iterable[str]) -> Iterator[str]:
    """Yield lines with their newlines; raise `UnreadableFile` for one longer than `MAX_LINE`, or after `MAX_LINES`."""
    rest, number = "", 0
    for chunk in chunks:
        *lines, rest = (rest + chunk).split("\n")
        if number + len(lines) > MAX_LINES:
            raise UnreadableFile(reason=f"The file has more than {MAX_LINES:,} lines. Divide it.")
        for line in lines:
            number += 1
            yield f"{_bounded(line, number)}\n"
        _bounded(rest, number + 1)
    if rest:
        yield rest


def _bounded(line: str, number: int) -> str:
    if len(line) > MAX_LINE:
        raise UnreadableFile(
            reason=f"Line {number} has more than {MAX_LINE:,} characters. This does not seem to be a CSV file."
        )
    return line

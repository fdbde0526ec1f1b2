"""Decodes files of unknown encoding in pieces, and splits them into lines of bounded length."""

import codecs
import io
from collections.abc import Iterable, Iterator

from app.domain.kernel.errors import DomainError

MAX_LINE, MAX_LINES = 1_000_000, 2_000_000
UTF8, UTF8_BOM, WINDOWS = "utf-8", "utf-8-sig", "cp1252"
ENCODINGS = (UTF8, "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", WINDOWS)
BOMS = {
    codecs.BOM_UTF8: UTF8_BOM,
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""The encodings of byte order marks; that of UTF-32 begins as that of UTF-16."""

ZEROS = {
    "utf-32-le": ((2, 4, 0.9), (3, 4, 0.9)),
    "utf-32-be": ((0, 4, 0.9), (1, 4, 0.9)),
    "utf-16-le": ((1, 2, 0.3),),
    "utf-16-be": ((0, 2, 0.3),),
}
"""The places of an encoding, each with its step, of which more than a share are zero bytes."""


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
    return next((each for each, places in ZEROS.items() if all(_has_zeros(sample, *place) for place in places)), None)


def _has_zeros(sample: bytes, start: int, step: int, share: float) -> bool:
    places = sample[start::step]
    return places.count(0) > share * len(places)


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

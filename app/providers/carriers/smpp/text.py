"""Texts as octets: the data codings of SMPP 3.4 (5.2.19), and the parts of a text with their user data headers."""

import enum
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise

from app.domain.kernel import sms_parts
from app.domain.kernel.sms_parts import DEFAULT_ALPHABET, ESCAPE, EXTENSION_TABLE, Encoding, Parts

UCS_2 = 0x08
HEADER_INDICATOR = 0x40
"""The bit of `esm_class` that announces a user data header: TS 23.040, 9.2.3.23."""

REFERENCE_8, REFERENCE_16 = 0x00, 0x08
"""Information elements of a concatenated text, with a reference of 8 or of 16 bits: TS 23.040, 9.2.3.24."""

ALPHABET = DEFAULT_ALPHABET[: ord(ESCAPE)] + ESCAPE + DEFAULT_ALPHABET[ord(ESCAPE) :]
EXTENSION_CODES = "\x0a\x14\x28\x29\x2f\x3c\x3d\x3e\x40\x65"

TO_SEPTETS = {ord(character): chr(code) for code, character in enumerate(ALPHABET)} | {
    ord(character): ESCAPE + code for character, code in zip(EXTENSION_TABLE, EXTENSION_CODES, strict=True)
}
FROM_SEPTETS = dict(enumerate(ALPHABET)) | {ord(ESCAPE): " "}
EXTENSIONS: Mapping[str, str] = dict(zip(EXTENSION_CODES, EXTENSION_TABLE, strict=True))

CODECS = {1: "ascii", 3: "latin-1", 6: "iso8859-5", 7: "iso8859-8", UCS_2: "utf-16-be"}
"""Codecs of data codings. 0 is the alphabet of the SMSC."""

_escaped = re.compile(f"{ESCAPE}(.?)", re.DOTALL)


class Alphabet(enum.StrEnum):
    """The alphabet that the SMSC expects of a text which needs no UCS-2.

    `gsm_7` are unpacked septets under the data coding 0, `latin_1` is ISO 8859-1 under the data coding 3.
    """

    gsm_7 = "gsm-7"
    latin_1 = "latin-1"


CODINGS = {Alphabet.gsm_7: 0, Alphabet.latin_1: 3}


@dataclass(frozen=True, slots=True)
class Part:
    """One SMS part as it is submitted: its octets begin with a user data header if `has_header`."""

    octets: bytes
    data_coding: int
    has_header: bool

    @property
    def esm_class(self) -> int:
        """Return the class of the message: store and forward, with or without a header."""
        return HEADER_INDICATOR if self.has_header else 0


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a part in a text: parts with the same `reference` and `total` belong together."""

    reference: int
    total: int
    sequence: int

    @property
    def is_valid(self) -> bool:
        """Return whether there is such a place."""
        return 1 <= self.sequence <= self.total


def split(body: str, reference: int, alphabet: Alphabet = Alphabet.gsm_7) -> list[Part]:
    """Return the parts of a text in their order; the header of each has the lowest octet of `reference`.

    A text that the alphabet lacks a character of is sent in UCS-2.
    """
    counted = sms_parts.count(body)
    if counted.encoding is Encoding.gsm_7 and alphabet is Alphabet.latin_1 and not _is_latin_1(body):
        counted = sms_parts.count_ucs_2(body)
    coding = UCS_2 if counted.encoding is Encoding.ucs_2 else CODINGS[alphabet]
    pieces = list(_divide(body, coding, counted))
    if len(pieces) == 1:
        return [Part(pieces[0], coding, has_header=False)]
    heads = (bytes((5, REFERENCE_8, 3, reference & 0xFF, len(pieces), place)) for place in range(1, len(pieces) + 1))
    return [Part(head + piece, coding, has_header=True) for head, piece in zip(heads, pieces, strict=True)]


def decode(octets: bytes, data_coding: int, alphabet: Alphabet = Alphabet.gsm_7) -> str:
    """Return a text without NUL. Octets that the data coding cannot explain are replaced; nothing is refused."""
    coding = _general_coding(data_coding)
    if coding == 0:
        text = _from_septets(octets) if alphabet is Alphabet.gsm_7 else octets.decode("latin-1")
    elif coding == UCS_2:
        text = octets[: len(octets) // 2 * 2].decode("utf-16-be", "replace")
    else:
        text = octets.decode(CODECS.get(coding, "latin-1"), "replace")
    return text.replace("\0", "")


def read_header(octets: bytes) -> tuple[Place | None, bytes]:
    """Return the place that a user data header gives, and the octets after the header."""
    if not octets or octets[0] >= len(octets):
        return None, octets
    end = octets[0] + 1
    place = next((place for place in map(_place, _elements(octets[1:end])) if place and place.is_valid), None)
    return place, octets[end:]


def _divide(body: str, coding: int, counted: Parts) -> Iterator[bytes]:
    """Yield the octets of each part."""
    if coding == CODINGS[Alphabet.latin_1]:
        octets, sizes = body.encode("latin-1"), _latin_1_sizes(body, counted)
    elif coding == UCS_2:
        octets, sizes = body.encode("utf-16-be", "surrogatepass"), [2 * units for units in counted.units]
    else:
        octets, sizes = body.translate(TO_SEPTETS).encode("latin-1"), counted.units
    for start, end in pairwise(accumulate(sizes, initial=0)):
        yield octets[start:end]


def _latin_1_sizes(body: str, counted: Parts) -> list[int]:
    """Return how many characters each part has, of those that are two septets on the air as well."""
    ends = list(accumulate(counted.units))
    widths = accumulate(2 if character in EXTENSION_TABLE else 1 for character in body)
    places = [next(part for part, end in enumerate(ends) if width <= end) for width in widths]
    return [places.count(part) for part in range(len(ends))]


def _is_latin_1(body: str) -> bool:
    return all(ord(character) < 0x100 for character in body)


def _general_coding(data_coding: int) -> int:
    """Return the data coding without a message class, a mark for deletion or a waiting message: TS 23.038, 4."""
    match data_coding >> 4:
        case 0xF:
            return 4 if data_coding & 0x04 else 0
        case 0xE:
            return UCS_2
        case 0xC | 0xD:
            return 0
        case group if 1 <= group <= 7:
            return (0, 4, UCS_2, 0)[data_coding >> 2 & 3]
        case _:
            return data_coding


def _from_septets(octets: bytes) -> str:
    """Return the text of unpacked septets; an unknown extension is read from the default alphabet."""
    pieces = _escaped.split(octets.decode("latin-1"))
    texts = [piece.translate(FROM_SEPTETS) for piece in pieces]
    texts[1::2] = [EXTENSIONS.get(code, code.translate(FROM_SEPTETS)) for code in pieces[1::2]]
    return "".join(texts)


def _elements(header: bytes) -> Iterator[tuple[int, bytes]]:
    while len(header) >= 2:
        yield header[0], header[2 : 2 + header[1]]
        header = header[2 + header[1] :]


def _place(element: tuple[int, bytes]) -> Place | None:
    match element:
        case (identifier, value) if identifier == REFERENCE_8 and len(value) == 3:
            return Place(*value)
        case (identifier, value) if identifier == REFERENCE_16 and len(value) == 4:
            return Place(value[0] << 8 | value[1], value[2], value[3])
        case _:
            return None

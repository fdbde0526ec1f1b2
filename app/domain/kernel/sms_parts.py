"""Number and size of a message's SMS parts: 3GPP TS 23.038 (alphabets) and TS 23.040 (concatenation)."""

import enum
import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")

MAX_LENGTH = 1600
"""Maximum length of a body, in code points."""

DEFAULT_ALPHABET = (
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?"
    "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà"
)
"""TS 23.038, 6.2.1: one septet each; its 128th code is the escape to the extension table."""

EXTENSION_TABLE = "\f^{}\\[~]|€"
"""TS 23.038, 6.2.1.1: an escape and a code, so two septets each."""

ESCAPE = "\x1b"
"""The first septet of a pair; the character follows it."""

HIGH_SURROGATES = range(0xD8, 0xDC)
"""The leading octets of high surrogates, which a low surrogate follows."""

SINGLE_SEPTETS, PART_SEPTETS = 160, 153
SINGLE_UNITS, PART_UNITS = 70, 67
"""TS 23.040: 140 octets of user data; the header of a concatenated part takes 6 of them."""

_is_basic = re.compile(f"[{re.escape(DEFAULT_ALPHABET)}]*").fullmatch
_gsm_7 = re.compile(f"[{re.escape(DEFAULT_ALPHABET + EXTENSION_TABLE)}]*").fullmatch
_outside = re.compile(f"[^{re.escape(DEFAULT_ALPHABET + EXTENSION_TABLE)}]")
_extensions = re.compile(f"[{re.escape(EXTENSION_TABLE)}]")


class Encoding(enum.StrEnum):
    """The alphabet that a text is sent in."""

    gsm_7 = "GSM-7"
    ucs_2 = "UCS-2"


@dataclass(frozen=True, slots=True)
class Parts:
    """The SMS parts of a message. `units` are their sizes: septets in GSM-7, 16-bit units in UCS-2."""

    encoding: Encoding
    units: tuple[int, ...]

    @property
    def segments(self) -> int:
        """Return the number of parts, by which carriers and the service charge."""
        return len(self.units)


def count(body: str) -> Parts:
    """Return the parts of a message, filled greedily; a code point is never split between two parts."""
    if _is_basic(body):
        return _unescaped(len(body))
    if _gsm_7(body):
        septets = _extensions.sub(rf"{ESCAPE}\g<0>", body)
        return Parts(Encoding.gsm_7, _fill(septets, ESCAPE, SINGLE_SEPTETS, PART_SEPTETS))
    return count_ucs_2(body)


def count_ucs_2(body: str) -> Parts:
    """Return the parts of a message that is sent in UCS-2, whatever its characters are."""
    leading_octets = body.encode("utf-16-be", "surrogatepass")[::2]
    return Parts(Encoding.ucs_2, _fill(leading_octets, HIGH_SURROGATES, SINGLE_UNITS, PART_UNITS))


def is_gsm_7(text: str) -> bool:
    """Return whether GSM-7 has every character of a text."""
    return _gsm_7(text) is not None


def find_outside(text: str) -> set[str]:
    """Return the characters of a text that GSM-7 lacks."""
    return set(_outside.findall(text))


def count_gsm_7(length: int) -> int:
    """Return the number of parts of so many characters, each of one septet."""
    return _unescaped(length).segments


@lru_cache(MAX_LENGTH)
def _unescaped(length: int) -> Parts:
    return Parts(Encoding.gsm_7, _fill(" " * length, ESCAPE, SINGLE_SEPTETS, PART_SEPTETS))


def _fill(units: Sequence[T], openers: Container[T], single: int, part: int) -> tuple[int, ...]:
    if len(units) <= single:
        return (len(units),)
    sizes: list[int] = []
    start = 0
    while len(units) - start > part:
        size = part - 1 if units[start + part - 1] in openers else part
        sizes.append(size)
        start += size
    return (*sizes, len(units) - start)

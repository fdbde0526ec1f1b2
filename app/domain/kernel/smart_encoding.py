"""Smart encoding: typographic characters replaced by those of GSM-7, where that saves SMS parts.

A character outside GSM-7 has the whole text sent in UCS-2, in parts of 67 instead of 153 characters.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from app.domain.kernel import links, sms_parts
from app.domain.kernel.sms_parts import MAX_LENGTH

JOINERS = "\u200c\u200d"
"""Characters that join or part the letters of scripts and the parts of an emoji; no text in GSM-7 needs them."""

REMOVED = (
    "\u00ad\u180e\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069"
    "\ufeff"
)
"""Characters that are not seen: soft hyphens, spaces without width, and marks of direction."""

FRACTIONS = {"¼": "1/4", "½": "1/2", "¾": "3/4", "⅓": "1/3", "⅔": "2/3", "⅛": "1/8", "⅜": "3/8", "⅝": "5/8", "⅞": "7/8"}

REPLACEMENTS: Mapping[str, str] = {
    **dict.fromkeys("‘’‚‛′´ʹʻʼ‹›", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63", "-"),
    **dict.fromkeys("\u2022\u2023\u2043\u2219\u25cf\u25e6\u25aa", "-"),
    "…": "...",
    **dict.fromkeys("\t\u00a0\u1680\u202f\u205f\u3000", " "),
    **{chr(code): " " for code in range(0x2000, 0x200B)},
    **dict.fromkeys("\u0085\u2028\u2029", "\n"),
    **{chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if chr(code - 0xFEE0) != "`"},
    "￡": "£",
    "￥": "¥",
    "\u2044": "/",
    **FRACTIONS,
    **dict.fromkeys(REMOVED, ""),
    **dict.fromkeys(JOINERS, ""),
}
"""The whole map: quotes, dashes, bullets, the ellipsis, spaces, full-width characters, fractions, unseen characters."""

_OTHER_LETTERS = {"ı": "i", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ħ": "h", "Ħ": "H", "œ": "oe", "Œ": "OE", "ẞ": "ß"}


def _fold_accents() -> dict[str, str]:
    """Return the letters that differ from an ASCII one by accents alone, and that GSM-7 lacks."""
    latin = map(chr, (*range(0xAA, 0x250), *range(0x1E00, 0x1F00)))
    plain = {letter: _base(letter) for letter in latin if letter.isalpha() and not sms_parts.is_gsm_7(letter)}
    return {letter: base for letter, base in plain.items() if base.isascii()}


def _base(letter: str) -> str:
    letters = [each for each in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(each)]
    return letters[0] if len(letters) == 1 else letter


ACCENTS: Mapping[str, str] = {**_fold_accents(), **_OTHER_LETTERS}
"""Letters without their accents. Folding changes words, so it is done only where the account asks for it."""

_PLAIN = str.maketrans(dict(REPLACEMENTS))
_PLAIN_LETTERS = str.maketrans({**REPLACEMENTS, **ACCENTS})
_VISIBLE = dict.fromkeys(map(ord, REMOVED), "")

_beside_digit = re.compile(f"(?<=[0-9])(?=[{''.join(FRACTIONS)}])|(?<=[{''.join(FRACTIONS)}])(?=[0-9])")
_mapped = re.compile(f"[{re.escape(''.join(REPLACEMENTS))}]")
_mapped_letters = re.compile(f"[{re.escape(''.join((*REPLACEMENTS, *ACCENTS)))}]")
_cluster = re.compile(r".[\u0300-\u036f]*", re.DOTALL)


class Costly(NamedTuple):
    """A character that forces UCS-2, its places in the text, and its replacement, None where there is none."""

    character: str
    positions: list[int]
    replacement: str | None


def encode(text: str, *, fold_accents: bool = False) -> str:
    """Return the text that is sent: in GSM-7 if the replacements make it that, otherwise as typed.

    Where nothing makes it GSM-7, unseen characters are removed if it takes fewer parts without them. It never takes
    more parts than the text as typed, and links do not change. Accents are folded only if the other replacements are
    not enough.
    """
    if sms_parts.is_gsm_7(text) or not _can_change(text, fold_accents=fold_accents):
        return text
    for table in (_PLAIN, _PLAIN_LETTERS) if fold_accents else (_PLAIN,):
        encoded = _replace(text, table)
        if sms_parts.is_gsm_7(encoded):
            return encoded if _fits(encoded, text) and _segments(encoded) <= _segments(text) else text
    encoded = _replace(text, _VISIBLE)
    return encoded if len(encoded) < len(text) and _segments(encoded) < _segments(text) else text


def find_costly(text: str, *, fold_accents: bool = False) -> list[Costly]:
    """Return the characters that GSM-7 lacks, in the order of their first places. In a link none is replaced."""
    if sms_parts.is_gsm_7(text):
        return []
    kept = {place for link in links.find(text) for place in range(link.start, link.end)}
    found: dict[tuple[str, bool], Costly] = {}
    for each in _cluster.finditer(text):
        if not sms_parts.is_gsm_7(each[0]):
            is_kept = each.start() in kept
            replacement = None if is_kept else _replacement(each[0], fold_accents=fold_accents)
            costly = found.setdefault((each[0], is_kept), Costly(each[0], [], replacement))
            costly.positions.append(each.start())
    return list(found.values())


def _can_change(text: str, *, fold_accents: bool) -> bool:
    mapped = _mapped_letters if fold_accents else _mapped
    return bool(mapped.search(text)) or not unicodedata.is_normalized("NFC", text)


def _replacement(character: str, *, fold_accents: bool) -> str | None:
    encoded = _replace(character, _PLAIN_LETTERS if fold_accents else _PLAIN)
    return encoded if sms_parts.is_gsm_7(encoded) else None


def _fits(encoded: str, text: str) -> bool:
    return len(encoded) <= max(len(text), MAX_LENGTH)


def _segments(text: str) -> int:
    return sms_parts.count(text).segments


def _replace(text: str, table: Mapping[int, str]) -> str:
    return "".join(
        part if is_link else _beside_digit.sub(" ", unicodedata.normalize("NFC", part)).translate(table)
        for part, is_link in _split(text)
    )


def _split(text: str) -> Iterator[tuple[str, bool]]:
    """Walk over the parts of a text, and whether each is a link."""
    end = 0
    for link in links.find(text):
        yield text[end : link.start], False
        yield text[link.start : link.end], True
        end = link.end
    yield text[end:], False

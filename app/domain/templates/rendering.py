"""Compile a text with placeholders once, and render it for many contacts.

A value is shown as it is: braces in it are never read as a placeholder, and it has no line ends and at most 64
characters, so that a name cannot contain a message.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import date
from functools import lru_cache, partial
from typing import NamedTuple

from app.domain.kernel import sms_parts
from app.domain.kernel.placeholders import Link
from app.domain.kernel.sms_parts import Parts
from app.domain.templates import dates
from app.domain.templates.grammar import DATE, Filter, Placeholder, parse

MAX_VALUE = 64
"""Maximum length of a filled-in value, in code points."""

MAX_LINK = 512
"""Maximum length of a filled-in link."""

HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""General categories of the characters removed from a value: controls, marks without width, unassigned ones."""

Fallbacks = tuple[tuple[str, str], ...]
"""The fallbacks of an account by the names of placeholders, for those that have none of their own."""

GAP = "\0"
"""Stands for an empty value until the spaces around it are closed. No text holds it: PostgreSQL does not store it."""

_BLANKS = r"(?<![ \t])[ \t]*+"
"""All blanks of a place. A search that began anew at each of them would take quadratic time."""

_DASH = "[-–—]"

_gaps = re.compile(rf"{GAP}[{GAP} \t,;:]*{GAP}|\([ \t]*{GAP}[{GAP} \t]*\)")
_gap_at_start = re.compile(
    rf"^(?:[ \t]*{GAP}[{GAP} \t]*(?:(?:,|[,.!?;:]+(?!\S)|{_DASH}(?!\S))[ \t]*)?)++", re.MULTILINE
)
_gap_at_sign = re.compile(
    rf"(?:([,.!?;:])|{_BLANKS}(?<=[ \t]){_DASH})?{_BLANKS}{GAP}[{GAP} \t]*+([,.!?;:]++(?!\d)|$)", re.MULTILINE
)
_gap = re.compile(rf"({_BLANKS}){GAP}[{GAP} \t]*+(?<=(.))", re.DOTALL)
_word_start = re.compile(r"(?:^|(?<=[\s\-])|(?<=\b[A-Za-z]['’]))\w")

STRENGTHS = {",": 1, "": 2, ":": 3, ";": 3, ".": 4, "!": 4, "?": 4}
"""The sign that stays where a gap brings two together; the empty text is the end of a line."""

Show = Callable[[object], str]


class Rendering(NamedTuple):
    """A rendered text, and the names of its placeholders without a value, whether or not a fallback stands there."""

    text: str
    missing: tuple[str, ...]

    @property
    def parts(self) -> Parts:
        """Return the SMS parts of the text."""
        return sms_parts.count(self.text)


class Slot(NamedTuple):
    """A placeholder of a compiled text."""

    name: str
    show: Show
    fallback: str


class CompiledText:
    """A text that renders for any values and never fails: a value that cannot be shown counts as missing."""

    __slots__ = ("_format", "slots")

    def __init__(self, text: str, fallbacks: Mapping[str, str]) -> None:
        """Parse a text; a fault of its grammar is sent as it is written."""
        nodes = parse(text.replace(GAP, "")).nodes
        self._format = "".join("%s" if isinstance(node, Placeholder) else node.replace("%", "%%") for node in nodes)
        self.slots = [_slot(node, fallbacks) for node in nodes if isinstance(node, Placeholder)]

    @property
    def names(self) -> frozenset[str]:
        """Return the names of its placeholders: the values that a caller has to read."""
        return frozenset(slot.name for slot in self.slots)

    def render(self, values: Mapping[str, object]) -> Rendering:
        """Return the text with values of one contact. An empty value leaves its fallback, or no gap."""
        shown = [show(values.get(name)) for name, show, _ in self.slots]
        if all(shown):
            return Rendering(self._format % (*shown,), ())
        missing = tuple(slot.name for slot, text in zip(self.slots, shown, strict=True) if not text)
        filled = (text or slot.fallback or GAP for slot, text in zip(self.slots, shown, strict=True))
        text = self._format % (*filled,)
        return Rendering(_close_gaps(text) if GAP in text else text, missing)


@lru_cache(1024)
def compiled(text: str, fallbacks: Fallbacks = ()) -> CompiledText:
    """Return a compiled text, with the fallbacks of its account; texts in use are compiled once."""
    return CompiledText(text, dict(fallbacks))


def clean(value: object) -> str:
    """Return a value on one line: NFC, no hidden characters, single spaces, at most 64 characters; None is empty.

    A link is not cut: one with blanks or hidden characters, or longer than 512 characters, is empty.
    """
    if isinstance(value, Link):
        return value if len(value) <= MAX_LINK and value.isprintable() and " " not in value else ""
    if not isinstance(value, str):
        value = "" if value is None else dates.show(value) if isinstance(value, date) else str(value)
    if value.isascii() and value.isprintable() and len(value) <= MAX_VALUE:
        return " ".join(value.split()) if " " in value else value
    shown = unicodedata.normalize("NFC", value)
    shown = "".join(each for each in shown if each.isspace() or unicodedata.category(each) not in HIDDEN)
    return " ".join(shown.split())[:MAX_VALUE].rstrip()


def _slot(placeholder: Placeholder, fallbacks: Mapping[str, str]) -> Slot:
    own = placeholder.fallback
    fallback = fallbacks.get(placeholder.name, "") if own is None else own
    return Slot(placeholder.name, _show(placeholder.filters), clean(fallback))


def _show(filters: tuple[Filter, ...]) -> Show:
    show: Show = clean
    for each in filters:
        show = partial(dates.show, pattern=each.argument or "") if each.name == DATE else _then(show, each.name)
    return show


def _then(show: Show, name: str) -> Show:
    change = TEXT_FILTERS[name]
    return lambda value: clean(change(show(value)))


def _title(text: str) -> str:
    return _word_start.sub(lambda found: found[0].upper(), text.lower())


TEXT_FILTERS: dict[str, Callable[[str], str]] = {
    "title": _title,
    "upper": str.upper,
    "lower": str.lower,
    "first_word": lambda text: text.partition(" ")[0],
}


def _close_gaps(text: str) -> str:
    """Remove gaps with the spaces and the signs that were theirs: `Hi , your` is `Hi, your`, `here, !` is `here!`."""
    text = _gap_at_start.sub("", _gaps.sub(GAP, text))
    return _gap.sub(_between, _gap_at_sign.sub(_stronger, text))


def _stronger(gap: re.Match[str]) -> str:
    """Return one of the signs around a gap; a dash before the gap goes with it."""
    before, after = gap[1] or "", gap[2]
    return before if before and STRENGTHS[before] >= STRENGTHS[after[:1]] else after


def _between(gap: re.Match[str]) -> str:
    return " " if gap[1] and gap[2] in " \t" else gap[1] or (gap[2] if gap[2] in " \t" else "")

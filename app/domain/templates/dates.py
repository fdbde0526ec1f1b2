"""Formats of dates in placeholders: letters of Unicode's LDML (TR 35), such as `EEE d MMM, h:mm a`, in English."""

import re
from collections.abc import Callable
from datetime import date, datetime
from functools import lru_cache

DEFAULT = "d MMM yyyy"

MONTHS = "January February March April May June July August September October November December"
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday"
_months, _days = MONTHS.split(), DAYS.split()

FIELDS: dict[str, Callable[[datetime], str]] = {
    "yyyy": lambda at: f"{at.year:04}",
    "yy": lambda at: f"{at.year % 100:02}",
    "MMMM": lambda at: _months[at.month - 1],
    "MMM": lambda at: _months[at.month - 1][:3],
    "MM": lambda at: f"{at.month:02}",
    "M": lambda at: str(at.month),
    "dd": lambda at: f"{at.day:02}",
    "d": lambda at: str(at.day),
    "EEEE": lambda at: _days[at.weekday()],
    "EEE": lambda at: _days[at.weekday()][:3],
    "HH": lambda at: f"{at.hour:02}",
    "H": lambda at: str(at.hour),
    "hh": lambda at: f"{at.hour % 12 or 12:02}",
    "h": lambda at: str(at.hour % 12 or 12),
    "mm": lambda at: f"{at.minute:02}",
    "ss": lambda at: f"{at.second:02}",
    "a": lambda at: "am" if at.hour < 12 else "pm",
}
"""The letters of a format. Texts stand between apostrophes: `d MMM 'at' h:mm a`."""

MAX_LENGTH = 40

_token = re.compile(r"'([^']*)'|([A-Za-z])\2*|[^A-Za-z']+|'")


def find_fault(pattern: str) -> str | None:
    """Return the reason against a format, if any."""
    if not pattern.strip() or len(pattern) > MAX_LENGTH:
        return f"needs a format of 1 to {MAX_LENGTH} characters, such as date({DEFAULT})."
    for token in _token.finditer(pattern):
        if token[0] == "'":
            return "has an apostrophe in its format without a second one."
        if token[2] and token[0] not in FIELDS:
            return f"has {token[0]} in its format, which is none of {', '.join(FIELDS)}. Set texts between apostrophes."
    return None


def show(value: object, pattern: str = DEFAULT) -> str:
    """Return an instant or a day, or its ISO 8601 text, in a format; nothing for a value that is neither."""
    at = _read(value)
    return "".join(write(at) for write in _compile(pattern)) if at else ""


def _read(value: object) -> datetime | None:
    match value:
        case datetime():
            return value
        case date():
            return datetime(value.year, value.month, value.day)  # noqa: DTZ001 - a day has no zone
        case str():
            try:
                return datetime.fromisoformat(value.strip())
            except ValueError:
                return None
        case _:
            return None


@lru_cache(1024)
def _compile(pattern: str) -> tuple[Callable[[datetime], str], ...]:
    return tuple(_writer(token) for token in _token.finditer(pattern))


def _writer(token: re.Match[str]) -> Callable[[datetime], str]:
    text = token[0] if token[1] is None else token[1]
    if token[1] is None and token[0] in FIELDS:
        return FIELDS[token[0]]
    return lambda _: text

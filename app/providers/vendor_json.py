"""Reads fields of JSON bodies of vendors, any of which may be absent or of another type."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

import orjson

from app.domain.kernel import instants

MAX_TEXT = 1000
MAX_ID = 200
"""The length of ids: an index cannot hold much longer ones."""
SECRET = re.compile(r"[!-~]{1,16384}")
"""A token or a code, as a header or a form can hold it."""

LEAST_DIGITS = 7
"""The digits of the shortest phones."""

REFUSALS = frozenset({"", "0", "off", "null", "n", "[]"})
"""Answers to a question of consent, in lower case, that are not a consent."""

REFUSING = re.compile(
    r"\b(?:no|not|non|none|nope|nah|nein|nicht|nunca|não|never|false|stop|without|don['’]?t|won['’]?t|decline[ds]?"
    r"|refuse[ds]?|disagree|unsubscribe|unchecked|opt(?:ed)?[- ]?out)\b"
)
"""Words of answers that are not a consent. A consent that has one counts as none: then nothing is sent."""


class NotThere(Exception):
    """A field that is needed is absent or invalid; the text says which."""


def load(body: bytes) -> Mapping[str, Any]:
    """Return the object that a body is; raise `NotThere`."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise NotThere("The body is not JSON.") from None
    if not isinstance(value, dict):
        raise NotThere("The body is not a JSON object.")
    return cast("dict[str, Any]", value)


def child(source: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a member that is an object; an empty one where it is absent or something else."""
    value = source.get(name)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def children(source: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the objects of a member that is a list."""
    value = source.get(name)
    found = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", each) for each in found if isinstance(each, dict)]


def text(source: Mapping[str, Any], name: str) -> str:
    """Return a member as text without surrounding blanks; empty where it is absent, null or a structure."""
    return scalar(source.get(name))


def scalar(value: object) -> str:
    """Return a value as text; structures have none. NUL, which PostgreSQL does not store, is left out."""
    if value is None or isinstance(value, (dict, list)):
        return ""
    written = str(value).lower() if isinstance(value, bool) else str(value)
    return written.replace("\0", "").encode(errors="replace").decode().strip()[:MAX_TEXT]


def needed(source: Mapping[str, Any], name: str) -> str:
    """Return a member as text; raise `NotThere` where it is empty."""
    value = text(source, name)
    if not value:
        raise NotThere(f"The field {name} is missing.")
    return value


def secret(source: Mapping[str, Any], name: str) -> str:
    """Return a member that is a token or a code, whole; raise `NotThere` where there is none that can be sent."""
    value = source.get(name)
    if not isinstance(value, str) or not SECRET.fullmatch(value):
        raise NotThere(f"The field {name} is missing or cannot be sent.")
    return value


def identifier(source: Mapping[str, Any], name: str) -> str:
    """Return a member that is an id, or an empty text; raise `NotThere` for a longer one than an index can hold."""
    id = text(source, name)
    if len(id) > MAX_ID:
        raise NotThere(f"The field {name} has more than {MAX_ID} characters.")
    return id


def needed_identifier(source: Mapping[str, Any], name: str) -> str:
    """Return a member that is an id; raise `NotThere` where it is empty or too long."""
    return identifier(source, name) or needed(source, name)


def instant(source: Mapping[str, Any], name: str) -> datetime:
    """Return a time with its zone, in UTC; raise `NotThere`."""
    written = needed(source, name)
    try:
        return instants.read(written)
    except ValueError:
        raise NotThere(f"The field {name} is not a time: {written[:40]}.") from None


def optional_instant(source: Mapping[str, Any], name: str) -> datetime | None:
    """Return a time in UTC, or None where there is none that can be read."""
    try:
        return instant(source, name)
    except NotThere:
        return None


def may_be_phone(question: str, answer: str) -> bool:
    """Return whether the answer to a question may be a phone: the question asks for one, and the answer has digits."""
    return "phone" in question.lower() and sum(map(str.isdigit, answer)) >= LEAST_DIGITS


def is_consent(answer: object) -> bool:
    """Return whether the answer to a question of consent is positive: anything but nothing, and words such as no."""
    given = cast("list[Any]", answer) if isinstance(answer, list) else [answer]
    written = [scalar(each).lower().rstrip(".!") for each in given]
    return any(each not in REFUSALS for each in written) and not any(map(REFUSING.search, written))


def is_same_question(label: str, question: str) -> bool:
    """Return whether a question of a form is the configured one, in any case and spacing."""
    return bool(question) and " ".join(label.split()).casefold() == " ".join(question.split()).casefold()

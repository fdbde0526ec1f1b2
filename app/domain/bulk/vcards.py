"""Reads the cards of vCard files (versions 2.1, 3.0 and 4.0) as rows."""

import codecs
import quopri
import re
from collections.abc import Iterable, Iterator

from app.domain.bulk import tag_lists
from app.domain.bulk.tables import Row

FIELDS = ["phone", "first_name", "last_name", "email", "tags"]
"""The columns of the rows."""

MOBILE = re.compile(r"\b(?:cell|mobile|iphone)\b", re.I)
WANTED = frozenset({"TEL", "N", "FN", "EMAIL", "CATEGORIES"})
CHARSET = re.compile(r"charset=([\w.-]+)", re.I)
SEPARATED, LISTED = re.compile(r"(?<!\\);"), re.compile(r"(?:\\.|[^\\,])+")
ESCAPED = re.compile(r"\\(.)")
MAX_HEAD, MAX_PROPERTY = 200, 4000
"""The characters of a property that hold its name and parameters, and those that are read of it."""

MAX_SAME = 100
"""The properties with the same name that are read of one card."""

NO_CHARSETS = frozenset({"punycode", "idna"})
"""Encodings of host names: to read a text takes a time that grows with the square of its length, or more."""

Properties = dict[str, list[tuple[str, str]]]


def is_vcard(head: str) -> bool:
    """Return whether a text begins as a vCard file."""
    return head.lstrip("\ufeff \n").upper().startswith("BEGIN:VCARD")


def read(lines: Iterable[str]) -> Iterator[Row]:
    """Yield a row for each card, in the order of `FIELDS`; a card has the number of its place in the file."""
    number, found = 0, Properties()
    for line in _unfold(lines):
        name, parameters, value = _property(line)
        if name == "BEGIN":
            found = Properties()
        elif name == "END":
            number += 1
            yield Row(number, _cells(found))
        elif name in WANTED and len(found.setdefault(name, [])) < MAX_SAME:
            found[name].append((parameters, _plain(parameters, value)))


def _unfold(lines: Iterable[str]) -> Iterator[str]:
    """Yield logical lines up to `MAX_PROPERTY`; those of other properties, such as photos, are passed over."""
    held = ""
    for line in lines:
        text = line.rstrip("\n")
        if held.endswith("=") and "QUOTED-PRINTABLE" in held[:MAX_HEAD].upper():
            held = held[:-1] + text if len(held) < MAX_PROPERTY else held[: MAX_PROPERTY - 1] + text[-1:]
        elif text[:1] in (" ", "\t"):
            held += text[1:] if len(held) < MAX_PROPERTY and _is_wanted(held) else ""
        else:
            yield held[:MAX_PROPERTY]
            held = text
    yield held[:MAX_PROPERTY]


def _is_wanted(line: str) -> bool:
    return re.split("[;:]", line[:MAX_HEAD], maxsplit=1)[0].rpartition(".")[2].upper() in WANTED


def _property(line: str) -> tuple[str, str, str]:
    head, _, value = line.partition(":")
    name, _, parameters = head.partition(";")
    return name.rpartition(".")[2].strip().upper(), parameters, value


def _plain(parameters: str, value: str) -> str:
    if "QUOTED-PRINTABLE" not in parameters.upper():
        return value
    content, charset = quopri.decodestring(value.encode()), CHARSET.search(parameters)
    try:
        codec = codecs.lookup(charset[1] if charset else "utf-8").name
        return _storable(content.decode("utf-8" if codec in NO_CHARSETS else codec, errors="replace"))
    except (LookupError, ValueError):
        return content.decode(errors="replace")


def _storable(text: str) -> str:
    """Return a text with U+FFFD for each half of a surrogate pair, which some encodings, such as UTF-7, let through."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", errors="replace")


def _cells(found: Properties) -> list[str]:
    phones = [value for parameters, value in found.get("TEL", []) if MOBILE.search(parameters)]
    phones += [value for _, value in found.get("TEL", [])]
    last, first = ([*SEPARATED.split(found["N"][0][1]), "", ""] if "N" in found else ["", ""])[:2]
    phone = _unescaped(phones[0] if phones else "").removeprefix("tel:").strip()
    name = found["FN"][0][1] if "FN" in found else ""
    if not first and not last and name != phone:  # a card must have FN: of a person without a name it is the phone
        first, _, last = name.partition(" ")
    email = found.get("EMAIL", [("", "")])[0][1]
    tags = [_unescaped(tag) for _, value in found.get("CATEGORIES", []) for tag in LISTED.findall(value)]
    return [phone, *(_unescaped(cell).strip() for cell in (first, last, email)), tag_lists.write(tags)]


def _unescaped(text: str) -> str:
    """Return a text without the backslashes of RFC 6350, section 3.4; a space is in the place of a line break."""
    return ESCAPED.sub(lambda found: " " if found[1] in "nN" else found[1], text)

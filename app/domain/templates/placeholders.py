"""Placeholders in texts, such as {first_name}: checked when a text is saved, filled in when it is sent."""

import re
import unicodedata
from collections.abc import Mapping

from app.domain.kernel.errors import InvalidInput

NAMES = ("first_name", "last_name", "company_name")
MAX_VALUE = 64
"""How many characters of a value are shown: a name is not a text of its own."""

_placeholder = re.compile(r"\{(\w+)\}")
_spaces = re.compile(r"[ \t]{2,}")
_space_before_sign = re.compile(r"[ \t]+(?=[,.!?;:])")
_space_at_edge = re.compile(r"^[ \t]+|[ \t]+$", re.MULTILINE)
_sign_at_start = re.compile(r"\A[ \t]*[,;:!][ \t]*")


def check(text: str, field: str) -> None:
    """Raise `InvalidInput` for a placeholder that is none of `NAMES`: it would be sent as it is written."""
    for name in _placeholder.findall(text):
        if name not in NAMES:
            known = ", ".join(f"{{{each}}}" for each in NAMES)
            raise InvalidInput(reason=f"{{{name}}} is not a placeholder. There are {known}.", field=field)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return a text with the values in it; an unknown one leaves nothing, not even the spaces that were around it.

    A value is shown as it is: what looks like a placeholder in it stays.
    """
    shown = {name: _shown(values.get(name, "")) for name in NAMES}
    missing = any(not shown.get(name, name) for name in _placeholder.findall(text))
    filled = _placeholder.sub(lambda found: shown.get(found[1], found[0]), text)
    return _tidy(filled) if missing else filled


def _shown(value: str) -> str:
    normal = unicodedata.normalize("NFC", value)
    kept = [each for each in normal if each.isspace() or unicodedata.category(each) not in ("Cc", "Cf")]
    return " ".join("".join(kept).split())[:MAX_VALUE].rstrip()


def _tidy(text: str) -> str:
    text = _space_before_sign.sub("", _spaces.sub(" ", _sign_at_start.sub("", text)))
    return _space_at_edge.sub("", text)

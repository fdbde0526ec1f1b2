"""Placeholders in templates, such as {first_name}: checked when a template is saved, filled when it is sent."""

import re
import unicodedata
from collections.abc import Mapping

from app.domain.kernel.errors import InvalidInput

NAMES = ("first_name", "last_name", "company_name")
MAX_VALUE = 64
"""Maximum length of a filled-in value, because a name should not contain a message."""

_placeholder = re.compile(r"\{(\w+)\}")
_spaces = re.compile(r"[ \t]{2,}")
_space_before_sign = re.compile(r"[ \t]+(?=[,.!?;:])")
_space_at_edge = re.compile(r"^[ \t]+|[ \t]+$", re.MULTILINE)
_sign_at_start = re.compile(r"\A[ \t]*[,;:!][ \t]*")


def check(text: str, field: str) -> None:
    """Raise `InvalidInput` for a placeholder not in `NAMES`, because it would be sent literally."""
    for name in _placeholder.findall(text):
        if name not in NAMES:
            known = ", ".join(f"{{{each}}}" for each in NAMES)
            raise InvalidInput(reason=f"{{{name}}} is not a placeholder. There are {known}.", field=field)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Return a template filled with values; an empty value is removed with the spaces around it.

    Values are not expanded: a placeholder within a value stays.
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

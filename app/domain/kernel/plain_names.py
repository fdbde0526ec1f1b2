"""Names by which people decide, such as those of keys, applications and companies: what is shown is the name."""

import re
import unicodedata

from app.domain.kernel.blank_texts import BLANK
from app.domain.kernel.errors import InvalidInput

NOT_OF_A_LINE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Line breaks, control characters, lone surrogates, and characters that change the direction of the text after them."""

REASON = "name must be one line of visible characters, without those that change its direction."


def is_visible(text: str) -> bool:
    """Return whether a text has a character that is shown, and not only spaces and joiners."""
    return any(each.isprintable() and each not in BLANK and unicodedata.category(each)[0] not in "MZ" for each in text)


def checked(text: str, limit: int) -> str:
    """Return a trimmed name; raise `InvalidInput` for a long one, and for one that is not a visible line."""
    name = text.strip()
    if not 1 <= len(name) <= limit:
        raise InvalidInput(reason=f"name must have 1 to {limit} characters.", field="name")
    if NOT_OF_A_LINE.search(name) or not is_visible(name):
        raise InvalidInput(reason=REASON, field="name")
    return name

"""Validation and normalization of watched keywords."""

import unicodedata

from app.domain.consent import recognition
from app.domain.consent.recognition import Intent, IntentKind
from app.domain.kernel.errors import InvalidInput

MAX_LENGTH = 40
ENDS = "CPZ"
"""Unicode's general categories, by their first letter, that do not count at the ends: control, punctuation, space."""


def normalize(text: str) -> str:
    """Return the compared form of a text: case-folded, single spaces, no punctuation at its ends; perhaps empty.

    Compatibility forms count as the plain ones (Unicode's NFKC), as does the apostrophe that phones write.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).replace("’", "'")
    words = " ".join(folded.split())
    kept = [place for place, character in enumerate(words) if unicodedata.category(character)[0] not in ENDS]
    return words[kept[0] : kept[-1] + 1] if kept else ""


def words_of(text: str) -> str:
    """Return the words of a normalized text without the punctuation around each."""
    return " ".join(filter(None, map(normalize, text.split())))


def check(keyword: str) -> str:
    """Return a keyword normalised; raise `InvalidInput` for one that cannot be watched."""
    if any(unicodedata.category(character) in ("Cc", "Zl", "Zp") for character in keyword.strip()):
        raise InvalidInput(reason="keyword must be a single line.", field="keyword")
    word = normalize(keyword)
    if not 1 <= len(word) <= MAX_LENGTH:
        raise InvalidInput(
            reason=f"keyword must have 1 to {MAX_LENGTH} characters, beside spaces and punctuation at its ends.",
            field="keyword",
        )
    if is_reserved(recognition.classify(word)):
        raise InvalidInput(
            reason=f"{word} cannot be watched, because the service acts on it: it reads it as a wish to stop, to start "
            "again or to get help, or as a wrong number. Choose another word.",
            field="keyword",
        )
    return word


def is_reserved(intent: Intent) -> bool:
    """Return whether the service itself acts on a text: automations get no opt-out, and no text that may be one."""
    return intent.kind is not IntentKind.none

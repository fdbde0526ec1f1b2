"""Plain characters: typography replaced by GSM-7 characters, one line, no braces except the placeholder's."""

import re
import unicodedata

PLACEHOLDER = "{first_name}"

_FOLDED = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\u2022\u00b7", "-"),
        "\u2026": "...",
        "{": "(",
        "}": ")",
    }
)
_EM_DASH = re.compile(r"\s*[\u2014\u2015]\s*")
_LINE_END = re.compile(r"(?<=\w)\s*[\r\n]+\s*")


def plain(text: str) -> str:
    """Return a text on one line in plain characters, without emoji; letters and digits are unchanged."""
    text = _LINE_END.sub(". ", _EM_DASH.sub(" - ", unicodedata.normalize("NFC", text)))
    kept = "".join(map(_character, text))
    return " ".join(PLACEHOLDER.join(piece.translate(_FOLDED) for piece in kept.split(PLACEHOLDER)).split())


def _character(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Cf":
        return ""
    emoji = category == "So" and character >= "\u2600"
    return " " if emoji or category in ("Cc", "Cs", "Zs", "Zl", "Zp") or character == "\ufe0f" else character

"""Texts that show nothing."""

import unicodedata

BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols that are shown as a space."""

UNSEEN = frozenset({"Cc", "Cf", "Mn", "Zl", "Zp", "Zs"})
"""The categories of controls, joiners, marks and spaces; new emojis have none of these."""


def is_blank(text: str) -> bool:
    """Return whether a text is empty, or has only characters that show nothing by themselves."""
    return all(unicodedata.category(each) in UNSEEN or each in BLANK for each in text)

"""Texts that show nothing."""

import unicodedata

BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0\U0001d159")
"""Letters and symbols that are shown as a space."""

UNSEEN = frozenset({"Cc", "Cf", "Me", "Mn", "Zl", "Zp", "Zs"})
"""The categories of controls, joiners, marks and spaces; new emojis have none of these."""

IGNORED = frozenset(map(chr, (0x2065, *range(0xFFF0, 0xFFF9), *range(0xE0000, 0xE1000))))
"""Reserved code points that are ignored in display (Unicode, Default_Ignorable_Code_Point)."""


def is_blank(text: str) -> bool:
    """Return whether a text is empty, or has only characters that show nothing by themselves."""
    return all(unicodedata.category(each) in UNSEEN or each in BLANK or each in IGNORED for each in text)

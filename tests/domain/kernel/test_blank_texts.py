"""Texts that show nothing."""

import pytest

from app.domain.kernel.blank_texts import is_blank


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "\r\n\t", "\u00a0", "\u200b", "\u200b \u200d\ufe0f", "\u2800", "\u3164", "\u0000", "\u2028"),
        *("\u20dd", "\U0001d159", "\u2065", "\ufff0", "\U000e0000", "\U000e0fff"),
    ],
)
def test_a_text_of_spaces_joiners_and_marks_shows_nothing(text: str) -> None:
    assert is_blank(text)


@pytest.mark.parametrize("text", [".", " a ", "\u200b\u2764\ufe0f", "\U0001f600", "\U0001fae8", "\U0001fae9", "\ue000"])
def test_a_text_with_a_letter_or_an_emoji_however_new_it_is_shows_it(text: str) -> None:
    assert not is_blank(text)

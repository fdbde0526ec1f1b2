"""Facts that a writer states in letters that look like others."""

from dataclasses import replace

import pytest

from app.domain.writing.checking import faults
from app.domain.writing.writer import Brief

BRIEF = Brief("20% off until Friday", "Blue Door")
END = " Reply STOP to opt out."


@pytest.mark.parametrize(
    "text",
    ["Only 2\u200b1 left", "Only ２１ left", "Only 2\u00ad1 left"],
    ids=["zero-width space", "full-width digits", "soft hyphen"],
)
def test_a_number_is_found_however_its_digits_are_written(text: str) -> None:
    assert faults(text + END, BRIEF) == ["It states '21', which the brief does not."]


@pytest.mark.parametrize(
    ("text", "link"),
    [
        ("See shop.example.com now", "shop.example.com"),
        ("See...shop.example.com", "shop.example.com"),
        ("See -shop.example.com-", "shop.example.com"),
        ("See our_shop.example.com/a_b--", "shop.example.com/a_b"),
        ("See https://www.shop.example.com/a-/.", "shop.example.com/a"),
    ],
)
def test_a_link_is_found_regardless_of_surrounding_characters(text: str, link: str) -> None:
    assert faults(text + END, BRIEF) == [f"It states {link!r}, which the brief does not."]


@pytest.mark.parametrize("part", ["a-", "a.", "1.", "9,", "{a:a", "{a", "http://-", "a.a-"])
def test_the_time_of_a_check_grows_with_the_length_of_the_text(part: str) -> None:
    """A check in quadratic time would take minutes for a text of this length."""
    text = (part * 200_000)[:200_000]

    assert faults("Hi." + END, replace(BRIEF, description=text)) == []

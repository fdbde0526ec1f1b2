"""Phones whose form is certain have the form that a parse gives them."""

import phonenumbers
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from phonenumbers import NumberParseException, PhoneNumberFormat, ValidationResult

from app.domain.kernel import certain_phones

REGIONS = [None, *sorted(phonenumbers.SUPPORTED_REGIONS)]
CODES = sorted(phonenumbers.COUNTRY_CODE_TO_REGION_CODE)


def _parsed(text: str, region: str | None) -> str | None:
    """Return the E.164 form of a possible number by the library alone, which reads it again without a change."""
    try:
        number = phonenumbers.parse(text, region)
        phone = phonenumbers.format_number(number, PhoneNumberFormat.E164)
        again = phonenumbers.parse(phone)
    except NumberParseException:
        return None
    is_possible = phonenumbers.is_possible_number_with_reason(number) == ValidationResult.IS_POSSIBLE
    is_same = phonenumbers.format_number(again, PhoneNumberFormat.E164) == phone
    return phone if is_possible and is_same and not number.extension else None


def _check(text: str, region: str | None) -> None:
    found = certain_phones.find(text, region)
    assert found is None or found == _parsed(text, region)


@settings(max_examples=2000)
@given(st.sampled_from(CODES), st.text("0123456789", min_size=4, max_size=14), st.sampled_from(REGIONS))
@example(44, "7911123456", None)
def test_an_international_phone_that_is_certain_is_parsed_to_the_same(
    code: int, digits: str, region: str | None
) -> None:
    _check(f"+{code}{digits}", region)


@settings(max_examples=2000)
@given(st.text("1234567890", min_size=9, max_size=11), st.sampled_from(REGIONS), st.sampled_from(["", "+", "+1", "1"]))
def test_a_national_phone_that_is_certain_is_parsed_to_the_same(digits: str, region: str | None, start: str) -> None:
    _check(start + digits, region)


@settings(max_examples=2000)
@given(st.text("0123456789+ ().-", max_size=30), st.sampled_from(["US", "CA", "GB", None]))
@example("+ 1 (212) 200.0000 - ", "US")
@example("((212-200-0000))", "CA")
def test_a_phone_with_separators_that_is_certain_is_parsed_to_the_same(text: str, region: str | None) -> None:
    _check(text, region)


@settings(max_examples=1000)
@given(st.lists(st.sampled_from(["", " ", "-", ".", "(", ")", ") ", " - "]), min_size=11, max_size=11), st.data())
def test_separators_anywhere_in_a_certain_phone_change_nothing(separators: list[str], data: st.DataObject) -> None:
    digits = data.draw(st.from_regex(r"\A[2-9][0-9]{9}\Z"))
    text = "".join(f"{between}{digit}" for between, digit in zip(separators, digits, strict=False)) + separators[-1]

    assert certain_phones.find(text, "US") in (None, f"+1{digits}")
    _check(text, "US")
    _check(f"+1{text}", None)


@pytest.mark.parametrize(
    ("text", "region", "phone"),
    [
        ("+12025550143", None, "+12025550143"),
        ("(202) 555-0143", "US", "+12025550143"),
        ("1-202-555-0143", "CA", "+12025550143"),
        ("+44 7911 123456", None, "+447911123456"),
        ("+4915112345678", "GB", "+4915112345678"),
        ("07911 123456", "GB", None),
        ("+4407911123456", None, None),
        ("+11234567890", None, None),
        ("+5212221234567", None, None),
        ("+0000000000", None, None),
        ("+2121", None, None),
        ("5550143", "US", None),
        ("2025550143", "GB", None),
        ("+1 202 555 0143 x5", None, None),
        ("+\u0661\u06622025550143", None, None),
        ("+1202555" + " " * 40 + "0143", None, None),
    ],
)
def test_only_a_phone_that_needs_no_parse_is_certain(text: str, region: str | None, phone: str | None) -> None:
    assert certain_phones.find(text, region) == phone

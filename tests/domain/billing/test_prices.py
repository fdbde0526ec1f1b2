"""The price of a segment, by destination and the account's region."""

import re
from pathlib import Path

import phonenumbers
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.billing.prices import ABROAD, GENERATE, HOME, TARIFF, credits_per_segment, destinations

CREDITS = Path(__file__).parents[3] / "docs" / "credits.md"
REGIONS = sorted(phonenumbers.SUPPORTED_REGIONS)


@pytest.mark.parametrize(
    ("to", "home", "price"),
    [
        ("+12025550143", "US", 1),
        ("+14165550143", "US", 1),  # Canada shares the calling code
        ("+447911123456", "US", 6),
        ("+447911123456", "GB", 1),
        ("+447911123456", "JE", 1),  # Jersey shares the calling code of Great Britain
        ("+12025550143", "GB", 1),
        ("+4915112345678", "US", 12),
        ("+4915112345678", "DE", 1),
        ("+525512345678", "US", 3),
        ("+3725123456", "US", 5),  # Estonia is not in the tariff
        ("+3725123456", "EE", 1),
        ("+79161234567", "US", 12),
        ("+77011234567", "RU", 1),  # Kazakhstan shares the calling code of Russia
    ],
)
def test_a_segment_costs_one_credit_at_home_and_the_tariff_abroad(to, home, price):
    assert credits_per_segment(to, home) == price


def test_home_is_the_united_states_unless_it_is_said():
    assert credits_per_segment("+12025550143") == 1
    assert credits_per_segment("+447911123456") == 6


def test_a_request_for_copy_costs_one_credit():
    assert GENERATE == 1


def test_the_tariff_names_real_calling_codes_and_whole_credits_from_1_to_12():
    assert {int(code) for code in TARIFF} <= set(phonenumbers.COUNTRY_CODE_TO_REGION_CODE)
    assert set(TARIFF.values()) <= set(range(1, 13))


@given(st.sampled_from(REGIONS), st.sampled_from(REGIONS))
def test_a_real_number_of_any_country_has_the_price_of_its_calling_code(region, home):
    number = phonenumbers.example_number(region)
    to = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)

    price = credits_per_segment(to, home)

    if number.country_code == phonenumbers.country_code_for_region(home):
        assert price == 1
    else:
        assert price == TARIFF.get(str(number.country_code), 5)


def test_the_destinations_of_an_account_have_the_prices_that_texts_are_debited_at():
    shown = destinations("GB")

    assert shown == TARIFF | {"44": HOME}
    assert list(shown)[:3] == ["1", "7", "20"]
    assert destinations("EE") == TARIFF | {"372": HOME}


def test_the_page_on_credits_has_the_tariff():
    text = CREDITS.read_text()
    rows = re.findall(r"^\| ((?:\+\d+ ?)+) \| (\d+) \|$", text, re.MULTILINE)

    assert {code.lstrip("+"): int(price) for codes, price in rows for code in codes.split()} == TARIFF
    assert f"| the account's own country | {HOME} |" in text
    assert f"| any other | {ABROAD} |" in text
    assert f"| one request for generated copy (`/sms/generate`) | {GENERATE} |" in text

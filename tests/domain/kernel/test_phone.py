"""One spelling for each phone number, and which of them take texts."""

import subprocess
import sys

import phonenumbers
import pytest
from hypothesis import given
from hypothesis import strategies as st
from phonenumbers import PhoneNumberFormat, PhoneNumberType

from app.domain.kernel.phone import (
    NOT_A_NUMBER,
    Carrier,
    Confidence,
    InvalidPhone,
    LandlinePhone,
    NumberValidation,
    calling_code,
    describe,
    find_carrier,
    normalize,
    normalize_sender,
    require_recipient,
)

MOBILES = [
    number
    for region in sorted(phonenumbers.SUPPORTED_REGIONS)
    if (number := phonenumbers.example_number_for_type(region, PhoneNumberType.MOBILE)) is not None
]


@pytest.mark.parametrize(
    ("text", "region", "phone"),
    [
        ("+12025550143", None, "+12025550143"),
        ("+1 (202) 555-0143", None, "+12025550143"),
        (" +1.202.555.0143 ", None, "+12025550143"),
        ("(202) 555-0143", "US", "+12025550143"),
        ("1-202-555-0143", "us", "+12025550143"),
        ("tel:+1-202-555-0143", None, "+12025550143"),
        ("１２０２５５５０１４３", "US", "+12025550143"),
        ("٢٠٢٥٥٥٠١٤٣", "US", "+12025550143"),
        ("\u202a+12025550143\u202c", None, "+12025550143"),
        ("07911 123456", "GB", "+447911123456"),
        ("0044 7911 123456", "GB", "+447911123456"),
        ("011447911123456", "US", "+447911123456"),
        ("+447911123456", "US", "+447911123456"),
        ("1-800-FLOWERS", "US", "+18003569377"),
        ("+15555550100", None, "+15555550100"),  # possible, in no one's plan
        ("+5215512345678", None, "+525512345678"),
        ("15512345678", "MX", "+525512345678"),
        ("+525512345678", None, "+525512345678"),
        ("+5491123456789", None, "+5491123456789"),
        ("+390612345678", None, "+390612345678"),
    ],
)
def test_a_number_is_stored_in_e164(text, region, phone):
    assert normalize(text, region) == phone


@pytest.mark.parametrize(
    ("text", "region", "reason"),
    [
        ("", None, "it is not a number"),
        ("abc", "US", "it is not a number"),
        ("2025550143", None, "it does not begin with + and a country code"),
        ("2025550143", "XX", "it does not begin with + and a country code"),
        ("+0000000000", None, "no country has that code"),
        ("555-2671", "US", "the area code is missing"),
        ("+1202555014", None, "it has too few digits"),
        ("+120255501434", None, "it has too many digits"),
        ("2025550143, 2025550199", "US", "it is not a number"),
        ("2025550143 / 2025550199", "US", "it is too long"),
        ("+12025550143 x12", None, "texts do not reach the extension 12"),
        ("+12025550143;ext=5", None, "texts do not reach the extension 5"),
        ("12345", "US", "it is a short code"),
        ("911", "US", "it is a short code"),
        ("24365", None, "it is a short code"),
    ],
)
def test_an_invalid_number_is_refused_with_the_reason(text, region, reason):
    with pytest.raises(InvalidPhone) as refusal:
        normalize(text, region)
    assert refusal.value.facts["reason"] == reason

    with pytest.raises(InvalidPhone) as refusal:
        require_recipient(text, region)
    assert refusal.value.facts["reason"] == reason


def test_the_refusal_names_the_expected_form():
    with pytest.raises(InvalidPhone) as refusal:
        require_recipient("555-2671", "US")

    assert str(refusal.value) == (
        "'555-2671' is not a phone number we can text: the area code is missing. "
        "Give it in E.164 form, such as +12025550143."
    )
    assert (refusal.value.code, refusal.value.status) == ("invalid_phone", 422)


def test_a_long_text_is_quoted_in_part():
    with pytest.raises(InvalidPhone) as refusal:
        normalize("x" * 10_000, "US")

    assert refusal.value.facts["phone"] == "'" + "x" * 40 + "…'"


@pytest.mark.parametrize(
    "phone",
    [
        "+12025550143",
        "+14155550100",
        "+447911123456",
        "+15005550006",  # the sandbox's numbers are personal ones
        "+15005559999",
        "+18003569377",  # toll-free
        "+5491123456789",
        "+8816123456789",
    ],
)
def test_a_number_that_takes_texts_is_accepted(phone):
    assert require_recipient(phone) == phone


@pytest.mark.parametrize(
    ("phone", "reason"),
    [
        ("+15555550100", "no such number is in use in its country"),
        ("+19005550100", "premium-rate numbers take no texts"),
        ("+448451234567", "premium-rate numbers take no texts"),
        ("+443001234567", "company access numbers take no texts"),
        ("+447640123456", "pagers take no texts"),
    ],
)
def test_a_number_that_takes_no_texts_is_refused(phone, reason):
    with pytest.raises(InvalidPhone) as refusal:
        require_recipient(phone)

    assert refusal.value.facts == {"phone": f"'{phone}'", "reason": reason}


@pytest.mark.parametrize(
    ("region", "kind", "reason"),
    [
        ("DE", PhoneNumberType.VOICEMAIL, "voicemail numbers take no texts"),
        ("FR", PhoneNumberType.SHARED_COST, "shared-cost numbers take no texts"),
        ("IT", PhoneNumberType.PREMIUM_RATE, "premium-rate numbers take no texts"),
    ],
)
def test_the_same_kinds_are_refused_in_other_countries(region, kind, reason):
    number = phonenumbers.example_number_for_type(region, kind)

    with pytest.raises(InvalidPhone) as refusal:
        require_recipient(phonenumbers.format_number(number, PhoneNumberFormat.E164))

    assert refusal.value.facts["reason"] == reason


def test_a_landline_is_refused_where_its_country_tells_landlines_apart():
    with pytest.raises(LandlinePhone) as refusal:
        require_recipient("+442079460958")

    assert str(refusal.value) == (
        "'+442079460958' is a landline, which takes no texts. Give a mobile number in E.164 form, such as +12025550143."
    )
    assert (refusal.value.code, refusal.value.status) == ("landline", 422)
    assert normalize("+442079460958") == "+442079460958"


@pytest.mark.parametrize(
    ("text", "sender"),
    [
        ("+12025550143", "+12025550143"),
        ("+1 202-555-0143", "+12025550143"),
        ("+5215512345678", "+525512345678"),
        ("+15555550100", "+15555550100"),
        ("24365", "24365"),
        (" 729725 ", "729725"),
        ("ACME", "ACME"),
        ("My Bank", "My Bank"),
        ("12025550143", "12025550143"),
        ("+12345", "+12345"),
        ("", ""),
    ],
)
def test_a_sender_is_stored_in_e164_or_as_it_came(text, sender):
    assert normalize_sender(text) == sender


@pytest.mark.parametrize(
    ("phone", "code"),
    [
        ("+12025550143", "1"),
        ("+79161234567", "7"),
        ("+447911123456", "44"),
        ("+3725123456", "372"),
        ("24365", ""),
        ("", ""),
    ],
)
def test_the_calling_code_is_read_from_e164(phone, code):
    assert calling_code(phone) == code


@pytest.mark.parametrize("sender", ["72345", "ACME", "My Bank", "+1", "+12", "+999123456", "+", ""])
def test_a_sender_without_a_number_has_no_facts_and_no_carrier(sender):
    assert describe(sender) == NOT_A_NUMBER
    assert find_carrier(sender) == Carrier(None, Confidence.none)


@given(st.one_of(st.text(max_size=40), st.from_regex(r"\+[0-9]{0,20}", fullmatch=True)))
def test_any_sender_is_described(text):
    sender = normalize_sender(text)

    assert describe(sender).validation in NumberValidation
    assert find_carrier(sender).confidence in Confidence


@given(st.sampled_from(MOBILES), st.sampled_from([PhoneNumberFormat.INTERNATIONAL, PhoneNumberFormat.RFC3966]))
def test_a_mobile_of_any_country_is_accepted_in_any_international_spelling(number, spelling):
    phone = require_recipient(phonenumbers.format_number(number, spelling))

    assert phone == phonenumbers.format_number(number, PhoneNumberFormat.E164)
    assert calling_code(phone) == str(number.country_code)


@given(
    st.one_of(st.text(), st.from_regex(r"\+?[0-9 ().x-]{3,20}", fullmatch=True)),
    st.sampled_from([None, "US", "GB", "MX"]),
)
def test_a_normal_form_is_its_own_and_anything_else_is_refused(text, region):
    try:
        phone = normalize(text, region)
    except InvalidPhone:
        return

    assert phone == f"+{int(phone[1:])}"
    assert normalize(phone) == phone
    assert normalize_sender(phone) == phone


@given(st.text(), st.sampled_from([None, "US", ""]))
def test_a_recipient_is_a_number_that_could_be_stored_or_is_refused(text, region):
    try:
        phone = require_recipient(text, region)
    except (InvalidPhone, LandlinePhone):
        return

    assert phone == normalize(text, region)


def test_the_tables_of_places_and_carriers_are_not_loaded():
    program = "import sys, app.domain.kernel.phone; print([m for m in sys.modules if m.startswith('phonenumbers.')])"

    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout

    assert "phonenumbers.phonenumberutil" in loaded
    assert "geocoder" not in loaded
    assert "carrier" not in loaded
    assert "timezone" not in loaded

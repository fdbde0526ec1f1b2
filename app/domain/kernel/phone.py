"""Normalization of phone numbers (ITU-T E.164) and check of their capability to receive messages."""

import enum
import re
from functools import lru_cache
from typing import NamedTuple

import phonenumbers
from phonenumbers import NumberParseException, PhoneNumber, PhoneNumberFormat, PhoneNumberType, ValidationResult

from app.domain.kernel import certain_phones
from app.domain.kernel.errors import DomainError, InvalidInput


class InvalidPhone(DomainError):
    """The number cannot be written in E.164, or is of a type that cannot receive messages."""

    code = "invalid_phone"
    status = 422
    about = "phone"
    message = "{phone} is not a phone number we can text: {reason}. Give it in E.164 form, such as +12025550143."


class LandlinePhone(DomainError):
    """The number is a landline, which cannot receive messages."""

    code = "landline"
    status = 422
    about = "phone"
    message = "{phone} is a landline, which takes no texts. Give a mobile number in E.164 form, such as +12025550143."


class NumberValidation(enum.StrEnum):
    """The result of the comparison of a number with the numbering plan of its country."""

    valid = enum.auto()
    possible_not_valid = enum.auto()
    invalid = enum.auto()


class LineType(enum.StrEnum):
    """The kind of line of a number."""

    mobile = enum.auto()
    landline = enum.auto()
    voip = enum.auto()
    toll_free = enum.auto()
    unknown = enum.auto()


class Confidence(enum.StrEnum):
    """The reliability of a statement about a number."""

    high = enum.auto()
    medium = enum.auto()
    low = enum.auto()
    none = enum.auto()


class NumberFacts(NamedTuple):
    """The statements of the numbering plan about a number; `region` is a country such as US, or None."""

    validation: NumberValidation
    line_type: LineType
    line_type_confidence: Confidence
    region: str | None


class Carrier(NamedTuple):
    """The carrier that a range of numbers was assigned to, and the reliability of its name."""

    name: str | None
    confidence: Confidence


NOT_A_NUMBER = NumberFacts(NumberValidation.invalid, LineType.unknown, Confidence.none, None)

LINE_TYPES = {
    PhoneNumberType.MOBILE: LineType.mobile,
    PhoneNumberType.FIXED_LINE: LineType.landline,
    PhoneNumberType.VOIP: LineType.voip,
    PhoneNumberType.TOLL_FREE: LineType.toll_free,
}

UNREADABLE = {
    NumberParseException.INVALID_COUNTRY_CODE: "it does not begin with + and a country code",
    NumberParseException.NOT_A_NUMBER: "it is not a number",
    NumberParseException.TOO_SHORT_AFTER_IDD: "it has too few digits",
    NumberParseException.TOO_SHORT_NSN: "it has too few digits",
    NumberParseException.TOO_LONG: "it is too long",
}

IMPOSSIBLE = {
    ValidationResult.IS_POSSIBLE_LOCAL_ONLY: "the area code is missing",
    ValidationResult.INVALID_COUNTRY_CODE: "no country has that code",
    ValidationResult.INVALID_LENGTH: "no number of its country has that many digits",
    ValidationResult.TOO_SHORT: "it has too few digits",
    ValidationResult.TOO_LONG: "it has too many digits",
}

TEXTLESS = {
    PhoneNumberType.PREMIUM_RATE: "premium-rate numbers take no texts",
    PhoneNumberType.SHARED_COST: "shared-cost numbers take no texts",
    PhoneNumberType.UAN: "company access numbers take no texts",
    PhoneNumberType.VOICEMAIL: "voicemail numbers take no texts",
    PhoneNumberType.PAGER: "pagers take no texts",
}

UNPROVEN = frozenset({PhoneNumberType.FIXED_LINE, PhoneNumberType.UNKNOWN})
"""The kinds whose numbers may take texts after all: text-enabled landlines, and ranges newer than the metadata."""

CALLING_CODES = frozenset(f"+{code}" for code in phonenumbers.COUNTRY_CODE_TO_REGION_CODE)

MEXICO = 52
OLD_MEXICAN_MOBILES = range(10**10, 2 * 10**10)
"""National numbers with the prefix 1 for mobiles, which Mexico dropped in 2019."""

BARBADOS, NORTH_AMERICAN = "+1246", 12
"""The prefix of Barbados, and the length of a North American number in E.164."""

QUOTED_LENGTH = 40

_is_short_code = re.compile(r"\d{3,6}").fullmatch


def check_country(field: str, text: str) -> str:
    """Return a country in capital letters; raise `InvalidInput` about a field for one that has no numbering plan."""
    country = text.strip()
    if not country.isascii() or country.upper() not in phonenumbers.SUPPORTED_REGIONS:
        reason = f"{field} must be the two letters of a country (ISO 3166), such as US or GB."
        raise InvalidInput(reason=reason, field=field)
    return country.upper()


@lru_cache(65536)
def normalize(text: str, region: str | None = None) -> str:
    """Return a number in E.164; a national one needs its `region`, such as US. Raise `InvalidPhone`.

    Possible numbers are accepted: contacts and senders may have numbers newer than the metadata.
    """
    return certain_phones.find(text, region) or _e164(_parse(text, region))


@lru_cache(65536)
def require_recipient(text: str, region: str | None = None) -> str:
    """Return the E.164 form of a number that can receive messages. Raise `InvalidPhone` or `LandlinePhone`.

    North American numbers do not distinguish landlines from mobiles, so none is refused as a landline.
    """
    try:
        return _recipient(text, region)
    except (InvalidPhone, LandlinePhone) as error:
        error.field = "to"
        raise


def _recipient(text: str, region: str | None) -> str:
    number = _parse(text, region)
    kind = phonenumbers.number_type(number)
    if kind == PhoneNumberType.UNKNOWN:
        raise _invalid(text, "no such number is in use in its country")
    if kind in TEXTLESS:
        raise _invalid(text, TEXTLESS[kind])
    if kind == PhoneNumberType.FIXED_LINE:
        raise LandlinePhone(phone=_quoted(text))
    return _e164(number)


@lru_cache(65536)
def find_unproven(text: str, region: str | None = None) -> str | None:
    """Return the E.164 form of a number that is refused, but can receive texts if it has sent one; None for others."""
    try:
        number = _parse(text, region)
    except InvalidPhone:
        return None
    return _e164(number) if phonenumbers.number_type(number) in UNPROVEN else None


@lru_cache(65536)
def normalize_sender(text: str) -> str:
    """Return an international sender in E.164, and a short code or a name unchanged."""
    sender = text.strip()
    if not sender.startswith("+"):
        return sender
    try:
        return normalize(sender)
    except InvalidPhone:
        return sender


@lru_cache(65536)
def describe(phone: str) -> NumberFacts:
    """Return the offline facts about a number in E.164, or about a sender that has none, as a short code.

    North America does not separate mobiles from landlines: the line type of its numbers is unknown.
    """
    number = _find_number(phone)
    if number is None:
        return NOT_A_NUMBER
    is_valid = phonenumbers.is_valid_number(number)
    validation = NumberValidation.valid if is_valid else NumberValidation.possible_not_valid
    line_type = LINE_TYPES.get(phonenumbers.number_type(number), LineType.unknown)
    confidence = Confidence.none if line_type is LineType.unknown else Confidence.high
    return NumberFacts(validation, line_type, confidence, phonenumbers.region_code_for_number(number))


@lru_cache(65536)
def find_carrier(phone: str) -> Carrier:
    """Return the original carrier of a number in E.164: of low confidence where numbers can be ported.

    A sender that has no number in E.164, as a short code, has no carrier here. The names take 12 MB of memory from the
    first call on.
    """
    from phonenumbers import carrier

    number = _find_number(phone)
    name = carrier.name_for_number(number, "en") if number else ""
    if not number or not name:
        return Carrier(None, Confidence.none)
    is_portable = phonenumbers.is_mobile_number_portable_region(phonenumbers.region_code_for_number(number) or "")
    return Carrier(name, Confidence.low if is_portable else Confidence.medium)


def find_fault(phone: str) -> str:
    """Return the code of the error that refuses a recipient, for a number that is in E.164; empty for none.

    The plan of North America says nothing of the last four digits, except in Barbados: its numbers are looked up by
    the others, which saves a list of contacts most of the look-ups.
    """
    is_in_block = len(phone) == NORTH_AMERICAN and phone[:2] == "+1" and phone[:5] != BARBADOS
    return _fault_of_block(phone[:-4]) if is_in_block else _fault_of(phone)


@lru_cache(65536)
def _fault_of_block(head: str) -> str:
    return _fault_of(f"{head}0000")


@lru_cache(131072)
def _fault_of(phone: str) -> str:
    try:
        _recipient(phone, None)
    except (InvalidPhone, LandlinePhone) as fault:
        return fault.code
    return ""


def calling_code(phone: str) -> str:
    """Return the country calling code of a number in E.164, such as 44; empty if unknown."""
    heads = (phone[:end] for end in (2, 3, 4))
    return next((head[1:] for head in heads if head in CALLING_CODES), "")


def _parse(text: str, region: str | None) -> PhoneNumber:
    number = _read(text, region)
    digits = number.national_number or 0
    if number.country_code == MEXICO and digits in OLD_MEXICAN_MOBILES:
        number.national_number = digits - OLD_MEXICAN_MOBILES.start
    if number.extension:
        raise _invalid(text, f"texts do not reach the extension {number.extension}")
    possible = phonenumbers.is_possible_number_with_reason(number)
    if possible != ValidationResult.IS_POSSIBLE:
        raise _invalid(text, IMPOSSIBLE[possible])
    if _e164(_read(_e164(number), None)) != _e164(number):
        raise _invalid(text, "it begins with a digit that is only dialed within its country")
    return number


def _read(text: str, region: str | None) -> PhoneNumber:
    try:
        return phonenumbers.parse(text, region and region.upper())
    except NumberParseException as error:
        unknown = error.error_type == NumberParseException.INVALID_COUNTRY_CODE and text.lstrip().startswith("+")
        reason = IMPOSSIBLE[ValidationResult.INVALID_COUNTRY_CODE] if unknown else UNREADABLE[error.error_type]
        raise _invalid(text, reason) from error


def _find_number(phone: str) -> PhoneNumber | None:
    """Return the number of a phone in E.164; None for a short code or a name, which contacts of senders have."""
    try:
        return phonenumbers.parse(phone)
    except NumberParseException:
        return None


def _e164(number: PhoneNumber) -> str:
    return phonenumbers.format_number(number, PhoneNumberFormat.E164)


def _invalid(text: str, reason: str) -> InvalidPhone:
    return InvalidPhone(phone=_quoted(text), reason="it is a short code" if _is_short_code(text) else reason)


def _quoted(text: str) -> str:
    return f"'{text}'" if len(text) <= QUOTED_LENGTH else f"'{text[:QUOTED_LENGTH]}…'"

"""Types of number and numbering plans of the addresses that are sent, and numbers from the addresses that are read."""

import re

from app.domain.kernel import phone
from app.providers.carriers.smpp.pdu import Address

UNKNOWN, INTERNATIONAL, NATIONAL, NETWORK, ALPHANUMERIC = 0, 1, 2, 3, 5
ISDN = 1

_is_short_code = re.compile(r"\d{3,8}").fullmatch
_is_number = re.compile(r"\d{7,15}").fullmatch


def encode(number: str) -> Address:
    """Return the address of a number in E.164, of a short code, or of an alphanumeric sender."""
    if number.startswith("+"):
        return Address(INTERNATIONAL, ISDN, number[1:])
    if _is_short_code(number):
        return Address(NETWORK, UNKNOWN, number)
    return Address(ALPHANUMERIC, UNKNOWN, number)


def decode(address: Address) -> str:
    """Return a number in E.164 where the digits can be one, and otherwise the digits or the name.

    Many SMSCs give international numbers without a plus and without a type, so the type decides only for names.
    """
    digits = address.digits.strip()
    if digits.startswith("+") or address.ton == ALPHANUMERIC:
        return digits
    if address.ton == INTERNATIONAL and digits.isdecimal():
        return f"+{digits}"
    return f"+{digits}" if _is_number(digits) and _is_possible(digits) else digits


def _is_possible(digits: str) -> bool:
    try:
        phone.normalize(f"+{digits}")
    except phone.InvalidPhone:
        return False
    return True

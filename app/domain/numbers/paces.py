"""Default paces of sending numbers: how many SMS parts a second networks take from a number of each kind."""

import phonenumbers

LONG_CODE, TOLL_FREE, SHORT_CODE = 1.0, 3.0, 100.0

SLOWEST, FASTEST = 0.01, 1000.0
"""The bounds of a pace that an account sets, in SMS parts a second."""


def default_pace(number: str, carrier: str) -> float | None:
    """Return the SMS parts a second that may leave from a number; None for no limit, as in the sandbox.

    An alphanumeric sender has the pace of a long code until another is set.
    """
    if carrier == "sandbox":
        return None
    if not number.startswith("+"):
        return SHORT_CODE if number.isdigit() else LONG_CODE
    kind = phonenumbers.number_type(phonenumbers.parse(number))
    return TOLL_FREE if kind == phonenumbers.PhoneNumberType.TOLL_FREE else LONG_CODE

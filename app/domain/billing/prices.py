"""Prices in whole credits."""

from functools import lru_cache

import phonenumbers

from app.domain.kernel.phone import calling_code

GENERATE = 1
"""The price of one request for AI-written copy."""

HOME = 1
"""The price of a segment within the account's own country."""

ABROAD = 5
"""The price of a segment to a country that is not in the tariff."""

TARIFF = {
    code: price
    for price, codes in {
        1: "1",
        3: "27 52 66 86 90",
        4: "48 55 57 65 82 351",
        6: "44 45 46 61 81 91 420",
        8: "30 33 34 41 47 64 353 358 852 971",
        10: "39 54 56 60 63 886 966 972",
        12: "7 20 31 32 43 49 62 84 92 94 212 213 216 234 254 380 880 960 992 993 994 996 998",
    }.items()
    for code in codes.split()
}
"""The price of a segment by country calling code, roughly proportional to carriers' prices."""

LONGEST_CODE = 4
"""The characters of a number in E.164 that its calling code is among: + and up to three digits."""


def credits_per_segment(to: str, home: str = "US") -> int:
    """Return the credits of one segment to a number in E.164, from an account whose region is `home`.

    The calling code decides, not the region: +44 is one price for Great Britain, Jersey and Guernsey.
    """
    return _price(to[:LONGEST_CODE], home)


@lru_cache(65536)
def _price(to: str, home: str) -> int:
    code = calling_code(to)
    return HOME if code == _calling_code_of(home) else TARIFF.get(code, ABROAD)


def destinations(home: str) -> dict[str, int]:
    """Return the credits of one segment by calling code, in their order, for an account whose region is `home`."""
    known = TARIFF | {_calling_code_of(home): HOME}
    return {code: known[code] for code in sorted(known, key=int)}


def _calling_code_of(region: str) -> str:
    return str(phonenumbers.country_code_for_region(region))

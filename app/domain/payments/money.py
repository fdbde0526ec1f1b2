"""Amounts of money in the smallest unit of their currency."""

import re
from decimal import ROUND_CEILING, Decimal

NO_DECIMALS = re.compile("BIF|CLP|DJF|GNF|JPY|KMF|KRW|MGA|PYG|RWF|VND|VUV|XAF|XOF|XPF")
THREE_DECIMALS = re.compile("BHD|JOD|KWD|OMR|TND")
STEPS = {"ISK": 100, "UGX": 100, "BHD": 10, "JOD": 10, "KWD": 10, "OMR": 10, "TND": 10}
"""The least difference of two amounts that cards can pay, where that is more than the smallest unit."""


def price_of(credits: int, rate: Decimal, currency: str) -> int:
    """Return the price of credits at a rate in whole units of the currency."""
    return amount_of(credits * rate, currency)


def amount_of(price: Decimal, currency: str) -> int:
    """Return a price in whole units of the currency in its smallest one, rounded up to what a card can pay."""
    step = STEPS.get(currency, 1)
    return step * int((price * 10 ** decimals(currency) / step).to_integral_value(ROUND_CEILING))


def decimals(currency: str) -> int:
    """Return the number of decimals of the amounts in a currency (docs.stripe.com, Supported currencies).

    For some it is not that of ISO 4217: amounts in UGX have two.
    """
    if NO_DECIMALS.fullmatch(currency):
        return 0
    return 3 if THREE_DECIMALS.fullmatch(currency) else 2


def credits_of(part: int, amount: int, credits: int) -> int:
    """Return the credits of a part of the amount that paid for them: whole ones, and all of them for all of it."""
    return credits if part >= amount else credits * part // amount

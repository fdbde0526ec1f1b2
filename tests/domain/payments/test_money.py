"""Prices in the smallest unit of a currency."""

from decimal import Decimal

import pytest

from app.domain.payments.money import price_of


@pytest.mark.parametrize(
    ("credits", "rate", "currency", "amount"),
    [
        (501, "0.0125", "USD", 627),
        (501, "1.5", "JPY", 752),
        (101, "5.5", "ISK", 55_600),
        (101, "40.5", "UGX", 409_100),
        (501, "0.0125", "HUF", 627),
        (7, "0.0035", "KWD", 30),
        (1000, "0.0035", "KWD", 3_500),
    ],
)
def test_a_price_is_rounded_up_to_an_amount_that_a_card_can_pay(
    credits: int, rate: str, currency: str, amount: int
) -> None:
    assert price_of(credits, Decimal(rate), currency) == amount

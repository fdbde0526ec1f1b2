"""Reading balances: how much is spent in a day, and how long the rest lasts."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.billing import queries
from app.domain.billing.queries import Balance, daily_average, days_left
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import NOON, SetClock
from tests.factories.billing import LEDGER_ENTRIES, debit_at, refund_debits


@pytest.mark.parametrize(
    ("balance", "average", "days"),
    [(0, 0, 0), (1, 0, 9999), (0, 5, 0), (4, 5, 0), (5, 5, 1), (1000, 3, 333), (9999, 1, 9999), (10**12, 1, 9999)],
)
def test_days_are_whole_and_9999_at_most(balance: int, average: int, days: int) -> None:
    assert days_left(balance, average) == days


@given(st.integers(0, 10**12), st.integers(1, 10**9))
def test_the_balance_lasts_for_the_days_that_are_left_and_not_one_more(balance: int, average: int) -> None:
    days = days_left(balance, average)

    assert days * average <= balance
    assert days == 9999 or (days + 1) * average > balance


@pytest.mark.parametrize(
    ("spent", "days", "average"),
    [(0, 10, 0), (100, 0.2, 100), (100, -0.5, 100), (100, 1, 100), (100, 4, 25), (5, 2, 3), (7, 2, 4), (3, 60, 0)],
)
def test_an_average_is_rounded_half_up_over_one_to_thirty_days(spent: int, days: float, average: int) -> None:
    assert daily_average(spent, days) == average


@given(st.integers(0, 10**12), st.floats(-10, 10**4))
def test_an_average_lies_between_a_thirtieth_of_the_spending_and_all_of_it(spent: int, days: float) -> None:
    assert (spent - 15) // 30 <= daily_average(spent, days) <= spent


async def test_a_new_account_has_no_spending_and_the_maximum_of_days_left(unit: UnitOfWork) -> None:
    balance = await queries.get_balance(unit)

    assert balance == Balance(1000, Decimal("0.0100"), "USD", "prepaid", 0, 9999, None)


@pytest.fixture
def unit(unit: UnitOfWork) -> UnitOfWork:
    """Provide a unit of work at noon: no day ends during a test."""
    unit.clock = SetClock(NOON)
    return unit


async def spend(
    services: Services, account: Opened, credits: int, days_ago: float, *, for_message: bool = True
) -> None:
    midnight = NOON.replace(hour=0)
    message_id = await LEDGER_ENTRIES.count(services) if for_message else None
    await debit_at(services, account.account_id, credits, midnight - timedelta(days=days_ago), message_id)


@pytest.mark.parametrize(
    ("spending", "average", "days"),
    [
        ([(120, 3.5)], 34, 29),
        ([(300, 29.5), (300, 0.5)], 20, 50),
        ([(3000, 30.5), (600, 2.5)], 20, 50),
        ([(40, 0.25)], 40, 25),
        ([(40, -0.001)], 0, 9999),
    ],
    ids=["since the first debit", "30 days", "older is left out", "less than a day", "today is left out"],
)
async def test_the_average_counts_the_cost_of_texts_of_the_last_30_full_days(
    services: Services, account: Opened, unit: UnitOfWork, spending: list[tuple[int, float]], average: int, days: int
) -> None:
    for credits, days_ago in spending:
        await spend(services, account, credits, days_ago)

    balance = await queries.get_balance(unit)

    assert (balance.daily_avg_send, balance.estimated_days_left) == (average, days)


async def test_the_average_leaves_out_refunded_debits(services: Services, account: Opened, unit: UnitOfWork) -> None:
    await spend(services, account, 60, 2)
    await spend(services, account, 40, 2)
    await refund_debits(services, 40)

    balance = await queries.get_balance(unit)

    assert (balance.daily_avg_send, balance.estimated_days_left) == (30, 33)


async def test_the_average_leaves_out_copy_and_the_spending_of_other_accounts(
    services: Services, account: Opened, new_account: Callable[..., Any], unit: UnitOfWork
) -> None:
    await spend(services, account, 60, 2, for_message=True)
    await spend(services, account, 600, 2, for_message=False)
    await spend(services, await new_account(), 600, 2)

    balance = await queries.get_balance(unit)

    assert balance.daily_avg_send == 30

"""What was spent by period and kind, filtered lists of the ledger, and warnings of low balances."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.domain.billing import alerts, queries, spending
from app.domain.billing import service as billing
from app.domain.billing.models import EntryType
from app.domain.billing.queries import TransactionFilter
from app.domain.billing.spending import SpendGroup, SpendKind
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.paging import Window
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from app.jobs.sweeps import sweep
from app.services import Services
from tests.domain.conftest import NOON, Recorded, SetClock
from tests.factories.billing import BALANCE_ALERTS, debit_at, refund_debits
from tests.factories.traps import count_blocked
from tests.waiting import until, within


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


async def spend_in_november(services: Services, account: Opened) -> None:
    """Spend 7 and 5 credits on texts, of which 5 are refunded, and 2 on copy, on three days before NOON."""
    await debit_at(services, account.account_id, 7, instant("2026-10-30"), message_id=1)
    await debit_at(services, account.account_id, 5, instant("2026-11-16"), message_id=2)
    await debit_at(services, account.account_id, 2, instant("2026-11-21"), message_id=None)
    await refund_debits(services, 5)


@pytest.mark.parametrize(
    ("days", "group", "points"),
    [
        (2, SpendGroup.day, {"2026-11-20": 0, "2026-11-21": 2}),
        (22, SpendGroup.week, {"2026-10-31": 0, "2026-11-02": 0, "2026-11-09": 0, "2026-11-16": 2}),
        (23, SpendGroup.month, {"2026-10-30": 7, "2026-11-01": 2}),
    ],
)
async def test_spending_is_summed_up_by_period(
    services: Services, account: Opened, unit: UnitOfWork, days: int, group: SpendGroup, points: dict[str, int]
) -> None:
    await spend_in_november(services, account)
    unit.clock = SetClock(NOON)

    history = await spending.history(unit, days, group)

    assert {point.start: point.spent for point in history.points} == {instant(day): sum for day, sum in points.items()}
    assert (history.since, history.until) == (instant(next(iter(points))), instant("2026-11-22"))
    assert history.spent == sum(points.values())


async def test_spending_by_kind_divides_texts_from_the_work_of_an_ai(
    services: Services, account: Opened, unit: UnitOfWork, new_account: Callable[..., Any]
) -> None:
    await spend_in_november(services, account)
    await debit_at(services, (await new_account()).account_id, 50, NOON, message_id=3)
    unit.clock = SetClock(NOON)

    points = (await spending.history(unit, 30, SpendGroup.kind)).points

    assert [(each.kind, each.debited, each.refunded) for each in points] == [
        (SpendKind.messages, 12, 5),
        (SpendKind.ai, 2, 0),
    ]


@pytest.mark.parametrize("group", SpendGroup)
async def test_credits_spent_after_the_last_midnight_of_a_history_are_left_out(
    services: Services, account: Opened, unit: UnitOfWork, group: SpendGroup
) -> None:
    await debit_at(services, account.account_id, 3, instant("2026-11-21T23:59:59.999999"), message_id=1)
    await debit_at(services, account.account_id, 4, instant("2026-11-22"), message_id=2)
    unit.clock = SetClock(NOON)

    history = await spending.history(unit, 7, group)

    assert history.spent == sum(point.debited for point in history.points) == 3


@pytest.mark.parametrize("days", [0, 367])
async def test_a_history_has_at_most_366_days(unit: UnitOfWork, days: int) -> None:
    with pytest.raises(InvalidInput, match="days must be from 1 to 366"):
        await spending.history(unit, days, SpendGroup.day)


@pytest.mark.parametrize(
    ("filter", "amounts"),
    [
        (TransactionFilter(type=EntryType.refund), [5]),
        (TransactionFilter(type=EntryType.debit), [-2, -5, -7]),
        (TransactionFilter(since=instant("2026-11-16"), until=instant("2026-11-21")), [5, -5]),
        (TransactionFilter(type=EntryType.debit, until=instant("2026-11-16")), [-7]),
    ],
)
async def test_the_ledger_is_filtered_by_type_and_time(
    services: Services, account: Opened, unit: UnitOfWork, filter: TransactionFilter, amounts: list[int]
) -> None:
    await spend_in_november(services, account)

    page = await queries.find_transactions(unit, Window(), filter)

    assert [entry.amount for entry in page.nodes] == amounts
    assert (await page.total()).count == len(amounts)


async def test_a_low_balance_is_warned_of_once_until_credits_are_added(
    services: Services, unit_for: Callable[..., Any], account: Opened, recorded: Recorded
) -> None:
    job = sweep("low_balances", alerts.FIND_LOW, alerts.warn, services.database, services.clock, services.notify)

    async def act(verb: Callable[..., Any], *arguments: Any) -> bool:
        """Change the balance or its threshold, and return whether a warning follows."""
        async with unit_for(account) as unit:
            await verb(unit, *arguments)
        return await job.run()

    warned = [await act(alerts.set_threshold, 500), await act(billing.debit, 501, ""), await act(billing.debit, 1, "")]
    warned += [await act(billing.grant, 3, ""), await act(billing.debit, 3, "")]

    payloads = [payload for name, payload in await recorded() if name == "low_balance"]
    assert warned == [False, True, False, False, True]
    assert payloads == [{"balance": 499, "threshold": 500}, {"balance": 498, "threshold": 500}]


async def test_the_next_fall_is_warned_of_after_credits_were_added_during_a_warning(
    services: Services, unit_for: Callable[..., Any], account: Opened
) -> None:
    async def add() -> None:
        async with unit_for(account) as unit:
            await billing.grant(unit, 1000, "")

    async def is_added_or_waits() -> bool:
        return adding.done() or await count_blocked(services.database.pool) > 0

    async with unit_for(account) as unit:
        await alerts.set_threshold(unit, 1500)
    async with unit_for(account) as unit:
        assert await alerts.warn(unit) == 1
        adding = asyncio.create_task(add())
        await until(is_added_or_waits)
    await within("the addition of credits", adding)

    async with unit_for(account) as unit:
        await billing.debit(unit, 1000, "")
    async with unit_for(account) as unit:
        assert await alerts.warn(unit) == 1


async def test_the_threshold_is_part_of_the_balance_and_can_be_taken_away(unit: UnitOfWork) -> None:
    await alerts.set_threshold(unit, 1001)
    balance = await queries.get_balance(unit)
    assert (balance.low_balance, balance.is_low) == (1001, True)

    await alerts.set_threshold(unit, None)
    balance = await queries.get_balance(unit)
    assert (balance.low_balance, balance.is_low) == (None, False)

    with pytest.raises(InvalidInput, match="credits must be from 1"):
        await alerts.set_threshold(unit, 0)


async def test_a_new_threshold_warns_again(services: Services, unit: UnitOfWork) -> None:
    await alerts.set_threshold(unit, 2000)
    assert await alerts.warn(unit) == 1

    await alerts.set_threshold(unit, 2000)
    assert await alerts.warn(unit) == 0

    await alerts.set_threshold(unit, 3000)
    assert await alerts.warn(unit) == 1
    await unit.close(commit=True)
    assert await BALANCE_ALERTS.read(services, "threshold") == [3000]
    assert services.clock.now() - await BALANCE_ALERTS.only(services, "warned_at") < timedelta(minutes=5)

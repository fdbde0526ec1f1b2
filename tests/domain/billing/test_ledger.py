"""Changing balances, and the ledger that says why."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from app.db.engine import Pool
from app.domain.billing import queries
from app.domain.billing import service as billing
from app.domain.billing.service import MAX_GRANT, InsufficientCredits
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.paging import Total, Window
from app.domain.kernel.unit_of_work import Actor, UnitOfWork, open_unit
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.accounts import ACCOUNTS
from tests.factories.billing import LEDGER_ENTRIES, audit, balance_of


@pytest.fixture
def pool(services: Services) -> Pool:
    """Give the database."""
    return services.database.pool


@pytest.fixture
def act(services: Services, account: Opened) -> Callable[[], Any]:
    """Give a function that opens a unit of the account's."""
    actor = Actor(account.account_id, frozenset(), "test")
    return lambda: open_unit(services.database.sessions, actor, services.clock, services.notify)


async def ledger(pool: Pool) -> list[tuple[Any, ...]]:
    return await LEDGER_ENTRIES.read(pool, "type", "amount", "balance_after", "description", "actor")


LIMITS = "credits must be from 1 to 1,000,000,000,000, or as many below 0 to take some back."
OPENING = ("adjustment", 1000, 1000, "Starter credits", "setup")


async def test_a_debit_writes_its_amount_and_the_balance_after_it(act: Callable[..., Any], pool: Pool) -> None:
    async with act() as unit:
        assert await billing.debit(unit, 1000, "Message copy") == 0

    assert await ledger(pool) == [OPENING, ("debit", -1000, 0, "Message copy", "test")]
    await audit(pool)


async def test_a_debit_of_more_than_there_is_takes_nothing(act: Callable[..., Any], pool: Pool) -> None:
    with pytest.raises(InsufficientCredits) as refused:
        async with act() as unit:
            await billing.debit(unit, 1001, "Message copy")

    assert refused.value.facts == {"needed": 1001, "balance": 1000}
    assert await ledger(pool) == [OPENING]
    await audit(pool)


async def test_debits_at_once_never_take_more_than_there_is(act: Callable[..., Any], pool: Pool) -> None:
    async def take() -> int:
        async with act() as unit:
            return await billing.debit(unit, 300, "Message copy")

    answers = await asyncio.gather(*(take() for _ in range(8)), return_exceptions=True)

    assert sorted(answer for answer in answers if isinstance(answer, int)) == [100, 400, 700]
    assert sum(isinstance(answer, InsufficientCredits) for answer in answers) == 5
    await audit(pool)


async def test_a_grant_adds_credits_and_a_negative_one_takes_them_back(act: Callable[..., Any], pool: Pool) -> None:
    async with act() as unit:
        balances = [await billing.grant(unit, 500, "Thanks"), await billing.grant(unit, -1500, "Closed")]

    assert balances == [1500, 0]
    assert await ledger(pool) == [
        OPENING,
        ("adjustment", 500, 1500, "Thanks", "test"),
        ("adjustment", -1500, 0, "Closed", "test"),
    ]
    await audit(pool)


@pytest.mark.parametrize(
    ("credits", "reason"),
    [
        (0, LIMITS),
        (-1001, "does not hold 1,001 credits to take back."),
        (MAX_GRANT + 1, LIMITS),
        (-MAX_GRANT - 1, LIMITS),
    ],
)
async def test_a_grant_that_makes_no_sense_is_refused_with_its_limits_and_changes_nothing(
    act: Callable[..., Any], pool: Pool, credits: int, reason: str
) -> None:
    with pytest.raises(InvalidInput, match=f"{reason}$"):
        async with act() as unit:
            await billing.grant(unit, credits, "")

    assert await ledger(pool) == [OPENING]


async def test_a_grant_to_an_account_that_does_not_exist_is_refused(services: Services, pool: Pool) -> None:
    nobody = Actor(2**40, frozenset())

    with pytest.raises(InvalidInput):
        async with open_unit(services.database.sessions, nobody, services.clock, services.notify) as unit:
            await billing.grant(unit, 5, "")

    assert await LEDGER_ENTRIES.count(pool) == 0


async def test_a_second_refund_of_one_message_is_refused_by_the_ledger(
    act: Callable[..., Any], account: Opened, pool: Pool
) -> None:
    async with act() as unit:
        await billing.refund(unit, account.account_id, 7, 2, "Message failed: filtered")

    with pytest.raises(Exception, match="uq_ledger_entries_message_id"):
        async with act() as unit:
            await billing.refund(unit, account.account_id, 7, 2, "Message failed: filtered")

    assert await ledger(pool) == [OPENING, ("refund", 2, 1002, "Message failed: filtered", "test")]
    assert await balance_of(pool) == 1002


async def test_a_refund_of_a_free_message_writes_nothing(act: Callable[..., Any], account: Opened, pool: Pool) -> None:
    async with act() as unit:
        await billing.refund(unit, account.account_id, 7, 0, "Message failed: filtered")

    assert await ledger(pool) == [OPENING]


async def test_a_change_that_is_rolled_back_leaves_balance_and_ledger_as_they_were(
    act: Callable[..., Any], pool: Pool
) -> None:
    async def debit_and_stumble() -> None:
        async with act() as unit:
            await billing.debit(unit, 5, "Message copy")
            raise KeyError

    with pytest.raises(KeyError):
        await debit_and_stumble()

    assert await ledger(pool) == [OPENING]
    await audit(pool)


async def test_the_database_itself_keeps_a_balance_from_falling_below_zero(account: Opened, pool: Pool) -> None:
    with pytest.raises(Exception, match="ck_accounts_balance_not_negative"):
        await ACCOUNTS.where(id=account.account_id).change(pool, balance=-1)


async def test_transactions_are_listed_newest_first_page_by_page_and_only_the_accounts_own(
    unit: UnitOfWork, new_account: Callable[..., Any]
) -> None:
    await new_account()
    for credits in range(1, 5):
        await billing.debit(unit, credits, f"Debit {credits}")

    first = await queries.find_transactions(unit, Window(3))
    second = await queries.find_transactions(unit, Window(3, after=first.end_cursor))

    assert [entry.amount for entry in first.nodes] == [-4, -3, -2]
    assert [entry.amount for entry in second.nodes] == [-1, 1000]
    assert (await first.has_next_page(), await second.has_next_page()) == (True, False)
    assert (await first.total(), await second.total()) == (Total(5), Total(5))

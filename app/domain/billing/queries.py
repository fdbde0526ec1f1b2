"""Queries of balances and the ledger."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select

from app.domain.accounts import queries as accounts
from app.domain.billing import alerts
from app.domain.billing.models import OTHER_THAN_DEBITS, EntryType, LedgerDay, LedgerEntry
from app.domain.kernel.histories import between
from app.domain.kernel.paging import Order, Page, Total, Window, fetch, plan_for_values
from app.domain.kernel.unit_of_work import UnitOfWork

WINDOW_DAYS = 30
MANY_DAYS = 9999


@dataclass(frozen=True, slots=True)
class Balance:
    """The credits of an account, the price of one credit, and the days they last at the average daily spending.

    Below `low_balance` its owners are warned; None without a threshold.
    """

    balance: int
    rate: Decimal
    currency: str
    account_type: str
    daily_avg_send: int
    estimated_days_left: int
    low_balance: int | None

    @property
    def is_low(self) -> bool:
        """Return whether the balance is below its threshold."""
        return self.low_balance is not None and self.balance < self.low_balance


async def get_balance(unit: UnitOfWork) -> Balance:
    """Return the account's balance, its average daily spending and the estimated days left."""
    account = await accounts.get_own(unit)
    average = await _daily_average(unit)
    return Balance(
        balance=account.balance,
        rate=account.rate,
        currency=account.currency,
        account_type=account.account_type,
        daily_avg_send=average,
        estimated_days_left=days_left(account.balance, average),
        low_balance=await alerts.find_threshold(unit),
    )


async def find_balances(unit: UnitOfWork, ids: Sequence[int]) -> dict[int, Balance]:
    """Return the balance of the own account by its id; others are left out."""
    own = unit.actor.account_id
    return {own: await get_balance(unit)} if own in ids else {}


def days_left(balance: int, average: int) -> int:
    """Return the whole days until a balance is spent, at most 9999."""
    if average == 0:
        return MANY_DAYS if balance > 0 else 0
    return max(0, min(MANY_DAYS, balance // average))


def daily_average(spent: int, days: float) -> int:
    """Return credits per day, rounded half up, over at least one and at most thirty days."""
    return math.floor(spent / max(1.0, min(float(WINDOW_DAYS), days)) + 0.5)


@dataclass(frozen=True, slots=True)
class TransactionFilter:
    """Some entries of a ledger: of a type, from `since` to before `until`, and of the messages of a query of ids."""

    type: EntryType | None = None
    since: datetime | None = None
    until: datetime | None = None
    message_ids: Select[Any] | None = None

    def conditions(self, account_id: int) -> list[ColumnElement[bool]]:
        """Return the conditions on the ledger entries of an account."""
        found = [*between(LedgerEntry, account_id, self.since, self.until)]
        if self.type:
            found.append(LedgerEntry.type == self.type)
        if self.type and self.type is not EntryType.debit:
            found.append(OTHER_THAN_DEBITS)
        if self.message_ids is not None:
            found.append(LedgerEntry.message_id.in_(self.message_ids))
        return found


async def find_transactions(
    unit: UnitOfWork, window: Window, filter: TransactionFilter | None = None
) -> Page[LedgerEntry]:
    """Return one page of the account's ledger, newest first."""
    conditions = filter.conditions(unit.actor.account_id) if filter else []
    own = select(LedgerEntry).where(LedgerEntry.account_id == unit.actor.account_id, *conditions)
    if conditions:
        await plan_for_values(unit)
        return await fetch(unit, own, Order((LedgerEntry.id,)), window)

    async def count() -> Total:
        entries = select(func.sum(LedgerDay.entries)).where(LedgerDay.account_id == unit.actor.account_id)
        return Total(int(await unit.one(entries) or 0))

    return await fetch(unit, own, Order((LedgerEntry.id,)), window, count)


async def find_last_addition(unit: UnitOfWork) -> datetime | None:
    """Return when credits were last added, other than by refunds of what was debited; None if none were."""
    added = LedgerEntry.type.in_((EntryType.purchase, EntryType.adjustment, EntryType.dispute)), LedgerEntry.amount > 0
    own = select(LedgerEntry.created_at).where(LedgerEntry.account_id == unit.actor.account_id, OTHER_THAN_DEBITS)
    return await unit.one(own.where(*added).order_by(LedgerEntry.id.desc()).limit(1))


async def has_purchase(unit: UnitOfWork, credits: int, since: datetime) -> bool:
    """Return whether the ledger has a purchase of a number of credits since a time."""
    which = LedgerEntry.type == EntryType.purchase, LedgerEntry.amount == credits, LedgerEntry.created_at >= since
    own = select(LedgerEntry.id).where(LedgerEntry.account_id == unit.actor.account_id, OTHER_THAN_DEBITS)
    return bool(await unit.all(own.where(*which).limit(1)))


async def _daily_average(unit: UnitOfWork) -> int:
    """Return the average daily cost of messages: debits less refunds."""
    midnight = unit.clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    today = midnight.date()
    own = select(LedgerDay).where(LedgerDay.account_id == unit.actor.account_id)
    first = own.with_only_columns(LedgerDay.first_text_at).where(LedgerDay.first_text_at.is_not(None))
    full_days = LedgerDay.day >= today - timedelta(days=WINDOW_DAYS), LedgerDay.day < today
    spent = own.with_only_columns(func.sum(-LedgerDay.text_amount)).where(*full_days)
    wanted = select(first.order_by(LedgerDay.day).limit(1).scalar_subquery(), spent.scalar_subquery())
    [(first_at, credits)] = await unit.rows(wanted)
    if first_at is None:
        return 0
    return daily_average(max(0, int(credits or 0)), (midnight - first_at) / timedelta(days=1))

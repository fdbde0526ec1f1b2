"""Queries for payments and plans."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, select

from app.domain.kernel.errors import NotFound
from app.domain.kernel.paging import Order, Page, Window, fetch
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.payments.models import Payment, PaymentCustomer, PlanStatus, PlanSubscription

MAX_SHOWN = 100


async def find_page(unit: UnitOfWork, window: Window) -> Page[Payment]:
    """Return one page of the account's payments, newest first."""
    own = select(Payment).where(Payment.account_id == unit.actor.account_id)
    return await fetch(unit, own, Order((Payment.id,)), window)


async def list_plans(unit: UnitOfWork) -> Sequence[PlanSubscription]:
    """Return the newest plans of the account, those that have ended too."""
    own = select(PlanSubscription).where(PlanSubscription.account_id == unit.actor.account_id)
    return await unit.all(own.order_by(PlanSubscription.id.desc()).limit(MAX_SHOWN))


async def find_running_plan(unit: UnitOfWork) -> PlanSubscription | None:
    """Return the plan that the account pays."""
    return next((plan for plan in await list_plans(unit) if plan.status != PlanStatus.ended), None)


async def list_open(unit: UnitOfWork, provider: str) -> Sequence[Payment]:
    """Return the payments of the account that a person could still pay on a page of a provider."""
    own = Payment.account_id == unit.actor.account_id, Payment.provider == provider
    return await unit.all(select(Payment).where(*own, Payment.look_at.is_not(None)).order_by(Payment.id))


async def get_plan(unit: UnitOfWork, id: int) -> PlanSubscription:
    """Return a plan of the account; raise `NotFound`."""
    own = PlanSubscription.account_id == unit.actor.account_id, PlanSubscription.id == id
    plan = await unit.one(select(PlanSubscription).where(*own).execution_options(populate_existing=True))
    if plan is None:
        raise NotFound(kind="plan subscription", id=id)
    return plan


async def find_by_key(unit: UnitOfWork, provider: str, key: str, *, lock: bool = False) -> Payment | None:
    """Return a payment of the account by the key of its order; with `lock`, locked for a change."""
    own = Payment.account_id == unit.actor.account_id, Payment.provider == provider, Payment.key == key
    found = select(Payment).where(*own)
    if lock:
        found = found.with_for_update().execution_options(populate_existing=True)
    return await unit.one(found)


async def get(unit: UnitOfWork, id: int, *, lock: bool = False) -> Payment:
    """Return a payment of the account; with `lock`, locked for a change. Raise `NotFound`."""
    found = select(Payment).where(Payment.account_id == unit.actor.account_id, Payment.id == id)
    payment = await unit.one(found.with_for_update() if lock else found)
    if payment is None:
        raise NotFound(kind="payment", id=id)
    return payment


async def read_time(unit: UnitOfWork) -> datetime:
    """Return the present time of the database."""
    return (await unit.all(select(func.clock_timestamp())))[0]


async def find_customer(unit: UnitOfWork, provider: str) -> str | None:
    """Return the account's id at a payment provider."""
    own = PaymentCustomer.account_id == unit.actor.account_id, PaymentCustomer.provider == provider
    return await unit.one(select(PaymentCustomer.provider_id).where(*own))

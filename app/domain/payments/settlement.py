"""Books in the ledger the state of a payment at its provider, each time the difference to the entries that exist."""

from datetime import datetime

from sqlalchemy import update
from sqlalchemy.dialects.postgresql import insert

from app.domain.accounts import queries as accounts
from app.domain.accounts.models import AccountStatus
from app.domain.billing import service as billing
from app.domain.billing.models import EntryType
from app.domain.kernel.errors import NotFound
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.payments import money, queries
from app.domain.payments.gateway import PaymentState, PlanState
from app.domain.payments.models import Payment, PaymentCustomer, PaymentStatus, PlanStatus, PlanSubscription

RUNNING = {"active": PlanStatus.active, "trialing": PlanStatus.active, "past_due": PlanStatus.past_due}
"""The statuses of subscriptions at providers that go on; `unpaid` waits for a payment too."""


async def settle(unit: UnitOfWork, provider: str, state: PaymentState, seen_at: datetime) -> bool:
    """Book the present state of a payment, which a reading that began at `seen_at` found.

    Idempotent: the same state books nothing again, and a state that was read before the last one is ignored. Refunds
    and disputes are booked even if the balance falls below zero. Returns False for a deleted account: it gets nothing.
    """
    await billing.lock(unit)
    if not await is_open(unit):
        return False
    payment = await _find_or_add(unit, provider, state)
    if payment.seen_at and payment.seen_at > seen_at:
        return True
    payment.seen_at = seen_at
    if state.is_paid or not payment.provider_id:
        payment.provider_id = state.reference
    payment.refunded, payment.disputed = state.refunded, state.disputed
    if state.is_paid and payment.paid_at is None:
        payment.look_at = None
        payment.paid_at, payment.amount, payment.credits = unit.clock.now(), state.amount, state.credits
    payment.status = _status(payment)
    await _book(unit, payment)
    await unit.save(payment)
    return True


async def settle_plan(unit: UnitOfWork, provider: str, state: PlanState, seen_at: datetime) -> None:
    """Store the present state of a plan, unless a later reading was stored."""
    if not await is_open(unit):
        return
    values = {
        "plan": state.plan.name,
        "credits": state.plan.credits,
        "amount": state.plan.amount,
        "currency": state.plan.currency,
        "status": RUNNING.get(state.status, PlanStatus.past_due if state.status == "unpaid" else PlanStatus.ended),
        "is_ending": state.is_ending,
        "period_end": state.period_end,
        "seen_at": seen_at,
    }
    key = {"account_id": unit.actor.account_id, "provider": provider, "provider_id": state.reference}
    row = insert(PlanSubscription).values(key | values)
    older = PlanSubscription.seen_at <= seen_at
    await unit.execute(row.on_conflict_do_update(index_elements=["provider", "provider_id"], set_=values, where=older))
    if state.customer:
        await keep_customer(unit, provider, state.customer)


async def end_unknown_plan(unit: UnitOfWork, provider: str, reference: str, seen_at: datetime) -> None:
    """Store that a plan has ended which the provider did not have, unless a later reading was stored."""
    own = PlanSubscription.account_id == unit.actor.account_id, PlanSubscription.provider == provider
    which = *own, PlanSubscription.provider_id == reference, PlanSubscription.seen_at <= seen_at
    await unit.execute(update(PlanSubscription).where(*which).values(status=PlanStatus.ended, seen_at=seen_at))


async def keep_customer(unit: UnitOfWork, provider: str, reference: str, former: str | None = None) -> None:
    """Store the account's id at a provider; the first one is kept, unless it is `former`, which is replaced."""
    values = {"account_id": unit.actor.account_id, "provider": provider, "provider_id": reference}
    row = insert(PaymentCustomer).values(values)
    is_former = PaymentCustomer.provider_id == former
    await unit.execute(
        row.on_conflict_do_update(
            index_elements=["account_id", "provider"], set_={"provider_id": reference}, where=is_former
        )
    )


async def is_open(unit: UnitOfWork) -> bool:
    """Return whether the account exists, and is not deleted."""
    try:
        return (await accounts.get_own(unit)).status != AccountStatus.deleted
    except NotFound:
        return False


async def _find_or_add(unit: UnitOfWork, provider: str, state: PaymentState) -> Payment:
    values = {
        "account_id": unit.actor.account_id,
        "provider": provider,
        "key": state.key,
        "status": PaymentStatus.pending,
        "description": state.description,
        "credits": state.credits,
        "amount": state.amount,
        "currency": state.currency,
    }
    await unit.execute(insert(Payment).values(values).on_conflict_do_nothing())
    payment = await queries.find_by_key(unit, provider, state.key, lock=True)
    if payment is None:
        raise NotFound(kind="payment", id=state.key, by="key")
    return payment


def _status(payment: Payment) -> PaymentStatus:
    if payment.paid_at is None:
        return PaymentStatus(payment.status)
    if payment.disputed:
        return PaymentStatus.disputed
    return PaymentStatus.refunded if payment.refunded >= payment.amount > 0 else PaymentStatus.paid


async def _book(unit: UnitOfWork, payment: Payment) -> None:
    """Enter the differences between the credits of a payment and those that the ledger has for it."""
    credits = payment.credits if payment.paid_at else 0
    refunded = money.credits_of(payment.refunded, payment.amount, credits) if payment.refunded else 0
    disputed = money.credits_of(payment.disputed, payment.amount, credits) if payment.disputed else 0
    disputed = min(disputed, credits - refunded)
    changes = (
        (EntryType.purchase, credits - payment.purchased),
        (EntryType.reversal, payment.reversed - refunded),
        (EntryType.dispute, payment.withheld - disputed),
    )
    payment.purchased, payment.reversed, payment.withheld = credits, refunded, disputed
    for type, amount in changes:
        if amount:
            await billing.book(unit, type, amount, f"{payment.description}, payment {payment.id}")

"""Start purchases, end plans, and process events of the payment provider."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import uuid4

from app.db.engine import Sessions
from app.domain.accounts import queries as accounts
from app.domain.accounts.errors import AccountDeletionPending
from app.domain.accounts.models import Account
from app.domain.billing import queries as ledger
from app.domain.billing import service as billing
from app.domain.billing.models import EntryType
from app.domain.kernel.clock import Clock
from app.domain.kernel.errors import Conflict, InvalidInput, shorten
from app.domain.kernel.events import timestamp
from app.domain.kernel.idempotency import IdempotencyKeyReused
from app.domain.kernel.unit_of_work import Actor, Notify, UnitOfWork, open_unit
from app.domain.payments import money, origin, queries
from app.domain.payments.gateway import Card, Checkout, Gateway, Notice, Order, PaymentState, Plan, PlanState
from app.domain.payments.models import Payment, PaymentStatus, PlanStatus, PlanSubscription
from app.domain.payments.settlement import RUNNING, end_unknown_plan, is_open, keep_customer, settle, settle_plan

MAX_TOP_UP, MAX_KEY = 10**9, 200
FIRST_LOOK = timedelta(minutes=10)
"""The time after the start of a payment at which the provider is asked about it, unless its event has come."""

MAX_SKEW = timedelta(minutes=5)
"""The difference that the provider's clock may have from ours."""

MIN_AMOUNT = 50
"""The least amount that providers take, in the smallest unit of most currencies."""


def _ignore(*_: object, **__: object) -> None: ...


@dataclass(frozen=True, slots=True)
class Payments:
    """The payment provider, the plans on offer, and the page to which people return.

    `warn` tells the operator of a state that only a person can put right: the name of a case, and its facts.
    """

    gateway: Gateway
    plans: Sequence[Plan]
    return_url: str
    sessions: Sessions
    clock: Clock
    notify: Notify
    warn: Callable[..., None] = _ignore

    async def receive(self, body: bytes, signature: str) -> None:
        """Process an event of the provider; raise `UnsignedPaymentEvent`, and `Unavailable` to get it again."""
        self.gateway.verify(body, signature, self.clock.now())
        seen_at = await self.read_time()
        notice = await self.gateway.read(body)
        for plan in notice.plans:
            await self._settle_plan(plan, seen_at)
        await self.book(notice, seen_at)

    async def book(self, notice: Notice, seen_at: datetime) -> None:
        """Book the payments of a notice whose reading began at `seen_at`."""
        for payment in notice.payments:
            async with self.unit(payment.account_id) as unit:
                case = await self._book(unit, payment, seen_at)
            if case:
                self.warn(case, account_id=payment.account_id, reference=payment.reference)

    async def _book(self, unit: UnitOfWork, payment: PaymentState, seen_at: datetime) -> str | None:
        """Book a payment of this installation; return the case that the operator is told of, if it is one."""
        if not await origin.is_own(unit, self.gateway.name, payment):
            return "payment_unknown_since_restore" if await origin.is_former(unit, payment) else None
        if await settle(unit, self.gateway.name, payment, seen_at) or not await _is_stray(unit, payment):
            return None
        return "payment_of_deleted_account"

    async def release(self, account_id: int) -> None:
        """End the plan and the open pages of an account at the provider, before the account is deleted.

        Raises `Unavailable` and `PaymentRefused`. Idempotent. What the provider does not have needs no end. Payments at
        another provider are left to the operator.
        """
        async with self.unit(account_id) as unit:
            plans = [plan for plan in await queries.list_plans(unit) if plan.status != PlanStatus.ended]
            open_pages = await queries.list_open(unit, self.gateway.name)
            mine = [plan.provider_id for plan in plans if plan.provider == self.gateway.name]
            references = [payment.provider_id for payment in open_pages]
            customer = await queries.find_customer(unit, self.gateway.name)
        for other in (plan for plan in plans if plan.provider != self.gateway.name):
            self.warn("plan_not_ended", account_id=account_id, provider=other.provider, reference=other.provider_id)
        for reference in references:
            await self.gateway.close(reference)
        if customer:
            await self.gateway.close_all(customer)
        for reference in mine:
            await self._stop_plan(account_id, reference)

    async def _stop_plan(self, account_id: int, reference: str) -> None:
        """End a plan now; one that the provider does not have is over, and the operator is told."""
        seen_at = await self.read_time()
        if state := await self.gateway.stop_plan(reference):
            await self._settle_plan(state, seen_at)
            return
        self.warn("plan_unknown_to_provider", account_id=account_id, reference=reference)
        async with self.unit(account_id) as unit:
            await end_unknown_plan(unit, self.gateway.name, reference, seen_at)

    async def _settle_plan(self, plan: PlanState, seen_at: datetime) -> None:
        """Store the state of a plan; one of a deleted account, such as of a page that was still open, ends now."""
        async with self.unit(plan.account_id) as unit:
            if not await origin.is_own(unit, self.gateway.name, plan):
                return
            if account_is_open := await is_open(unit):
                await settle_plan(unit, self.gateway.name, plan, seen_at)
        if not account_is_open and plan.status in RUNNING:
            self.warn("plan_of_deleted_account", account_id=plan.account_id, reference=plan.reference)
            await self.gateway.stop_plan(plan.reference)

    async def read_time(self) -> datetime:
        """Return the time at which a reading begins, by the clock of the database: those of processes may differ."""
        async with self.unit(0) as unit:
            return await queries.read_time(unit)

    async def installation(self) -> str:
        """Return the key of this installation at providers; it is stored before it is returned."""
        async with self.unit(0) as unit:
            return await origin.get_installation(unit)

    def unit(self, account_id: int) -> AbstractAsyncContextManager[UnitOfWork]:
        """Open a unit of an account with the provider as its actor."""
        actor = Actor(account_id, frozenset(), f"payments:{self.gateway.name}")
        return open_unit(self.sessions, actor, self.clock, self.notify)


async def _is_stray(unit: UnitOfWork, payment: PaymentState) -> bool:
    """Return whether money for a deleted account is at the provider for which the account got no credits.

    Of a deleted account only the ledger is left: it has the purchase, if that was booked.
    """
    if payment.paid_at is None or payment.refunded >= payment.amount:
        return False
    return not await ledger.has_purchase(unit, payment.credits, payment.paid_at - MAX_SKEW)


async def top_up(unit: UnitOfWork, payments: Payments, credits: int, key: str | None = None) -> Payment:
    """Start the purchase of credits. The provider is called with no transaction open.

    Without an online provider the request is stored for the operator. The same `key` returns the same payment, and the
    provider starts nothing anew. Raises `InvalidInput`, `PaymentRefused`, `Unavailable`, and `AccountDeletionPending`.
    """
    if not 1 <= credits <= MAX_TOP_UP:
        raise InvalidInput(reason=f"credits must be from 1 to {MAX_TOP_UP:,}.", field="credits")
    if key is not None and not 1 <= len(key) <= MAX_KEY:
        raise InvalidInput(reason=f"idempotency_key must have 1 to {MAX_KEY} characters.", field="idempotency_key")
    account = await accounts.get_own(unit)
    name = f"{account.id}/{key or uuid4()}"
    if known := await queries.find_by_key(unit, payments.gateway.name, name):
        return _same(known, credits)
    order = await _order(unit, payments, account, name, credits)
    checkout = await _start(unit, payments, order)
    payment = Payment(
        account_id=account.id,
        provider=payments.gateway.name,
        key=order.key,
        status=PaymentStatus.pending if checkout else PaymentStatus.requested,
        description=order.description,
        credits=credits,
        amount=order.amount,
        currency=order.currency,
        url=checkout.url if checkout else "",
        provider_id=checkout.reference if checkout else "",
        look_at=unit.clock.now() + FIRST_LOOK if checkout else None,
        created_by=unit.actor.label,
    )
    await billing.lock(unit)
    if known := await queries.find_by_key(unit, payments.gateway.name, name, lock=True):
        return _same(known, credits)
    await unit.save(payment)
    return payment


async def start_plan(unit: UnitOfWork, payments: Payments, name: str) -> str:
    """Start a plan by its name, and return the page on which a person pays it.

    Raises `InvalidInput`, `AccountDeletionPending`, and `Conflict` without an online provider or while another plan
    runs.
    """
    plan = next((plan for plan in payments.plans if plan.name == name), None)
    if plan is None:
        offered = ", ".join(plan.name for plan in payments.plans) or "none"
        raise InvalidInput(reason=f"{shorten(name)} is not a plan on offer. There are: {offered}.", field="plan")
    if not payments.gateway.is_online:
        raise Conflict(reason=f"Plans are paid through a payment provider. {payments.gateway.instructions}")
    if running := await queries.find_running_plan(unit):
        raise Conflict(reason=f"The account pays the plan {running.plan}. End it first.")
    account = await accounts.get_own(unit)
    order = await _order(unit, payments, account, f"{account.id}/{uuid4()}", plan.credits, plan)
    checkout = await _start(unit, payments, order)
    assert checkout is not None
    return checkout.url


async def open_portal(unit: UnitOfWork, payments: Payments) -> str:
    """Return a page of the provider to change the payment method and see invoices.

    Raises `Conflict` for an account that has bought nothing through the provider, `PaymentRefused` and `Unavailable`.
    """
    customer = await queries.find_customer(unit, payments.gateway.name)
    if customer is None:
        reason = "The account has bought nothing through the payment provider yet. Start a top-up, or a plan."
        raise Conflict(reason=reason if payments.gateway.is_online else payments.gateway.instructions)
    await unit.pause()
    return await payments.gateway.open_portal(customer, payments.return_url)


async def end_plan(unit: UnitOfWork, payments: Payments, id: int) -> PlanSubscription:
    """Let a plan end with the month that was paid, and return it; one that the provider does not have ends now.

    Raises `NotFound` and `Conflict`, `PaymentRefused` and `Unavailable`.
    """
    plan = await queries.get_plan(unit, id)
    if plan.provider != payments.gateway.name:
        raise Conflict(reason=f"The plan is paid through {plan.provider}, which this service no longer uses.")
    reference, seen_at = plan.provider_id, await queries.read_time(unit)
    await unit.pause()
    if state := await payments.gateway.end_plan(reference):
        await settle_plan(unit, payments.gateway.name, state, seen_at)
    else:
        await end_unknown_plan(unit, payments.gateway.name, reference, seen_at)
    return await queries.get_plan(unit, id)


async def find_card(unit: UnitOfWork, payments: Payments) -> Card | None:
    """Return the saved payment method of the account; raise `PaymentRefused` and `Unavailable`."""
    customer = await queries.find_customer(unit, payments.gateway.name)
    await unit.pause()
    return await payments.gateway.find_card(customer) if customer else None


async def confirm(unit: UnitOfWork, id: int) -> Payment:
    """Add the credits of a requested payment, once the operator has got its money; a second call adds nothing.

    Raises `NotFound`, and `Conflict` for a payment through a provider, which confirms it itself.
    """
    await billing.lock(unit)
    payment = await queries.get(unit, id, lock=True)
    if payment.status == PaymentStatus.requested:
        payment.status, payment.paid_at = PaymentStatus.paid, unit.clock.now()
        payment.purchased = payment.credits
        await billing.book(unit, EntryType.purchase, payment.credits, f"{payment.description}, payment {payment.id}")
        await unit.save(payment)
    elif payment.status != PaymentStatus.paid or payment.seen_at:
        raise Conflict(reason=f"Payment {id} is made through {payment.provider}, which confirms it itself.")
    return payment


async def _order(
    unit: UnitOfWork, payments: Payments, account: Account, key: str, credits: int, plan: Plan | None = None
) -> Order:
    if account.deletion_at:
        raise AccountDeletionPending(at=timestamp(account.deletion_at))
    currency = plan.currency if plan else account.currency
    amount = plan.amount if plan else money.price_of(credits, account.rate, currency)
    if payments.gateway.is_online and amount < MIN_AMOUNT:
        raise InvalidInput(reason="credits is too small: its price is below the smallest payment.", field="credits")
    return Order(
        account_id=account.id,
        key=key,
        credits=credits,
        amount=amount,
        currency=currency,
        description=f"Plan {plan.name}" if plan else f"{credits:,} credits",
        customer=await queries.find_customer(unit, payments.gateway.name),
        email=(await accounts.get_viewer(unit)).email,
        return_url=payments.return_url,
        installation="",
        plan=plan,
    )


async def _start(unit: UnitOfWork, payments: Payments, order: Order) -> Checkout | None:
    """Start an order at an online provider, with no transaction open."""
    if not payments.gateway.is_online:
        return None
    await unit.pause()
    checkout = await payments.gateway.start(replace(order, installation=await payments.installation()))
    if checkout.customer and checkout.customer != order.customer:
        await keep_customer(unit, payments.gateway.name, checkout.customer, order.customer)
    return checkout


def _same(known: Payment, credits: int) -> Payment:
    if known.credits != credits:
        raise IdempotencyKeyReused(key=known.key.partition("/")[2])
    return known

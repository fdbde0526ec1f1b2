"""Payments and plans, as the contract shows them."""

import enum
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, cast

import strawberry

from app.domain.billing import queries as billing
from app.domain.kernel.paging import Page
from app.domain.payments import gateway, models, money, queries, service
from app.domain.payments.models import PaymentStatus, PlanStatus
from app.graphql.actors import Actor, actor_of
from app.graphql.core.context import Info
from app.graphql.core.directives import ASKS_ANOTHER_SERVICE, Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.paging import After, Before, Connection, First, Last, Offset, window
from app.graphql.core.scalars import BigInt

AMOUNT = "The price in the smallest unit of the currency, such as cents: see decimals."
DECIMALS = "The number of decimals of the amount: with 2, an amount of 1050 is 10.50."


class BillingState(enum.StrEnum):
    """The state of a balance."""

    ok = enum.auto()
    low = enum.auto()
    empty = enum.auto()
    overdrawn = enum.auto()


describe(
    BillingState,
    "The state of a balance.",
    {
        "ok": "Texts can be sent.",
        "low": "The balance is below its threshold.",
        "empty": "No credits are left: texts are refused.",
        "overdrawn": "Refunded or disputed payments took the balance below zero: texts are refused.",
    },
)
describe(
    PaymentStatus,
    "The status of a payment.",
    {
        "requested": "The operator adds the credits once the money has arrived.",
        "pending": "It waits for a person to pay at its url.",
        "paid": "It was paid, and its credits were added.",
        "refunded": "It was refunded, and its credits were taken back.",
        "expired": "It was not paid at its url in time.",
        "disputed": "It is disputed, or the dispute was lost: its credits were taken back.",
    },
)
describe(
    PlanStatus,
    "The status of a plan of an account.",
    {
        "active": "It is paid.",
        "past_due": "The last payment failed; the provider tries again.",
        "ended": "It has ended.",
    },
)


@strawberry.type(description="A purchase of credits: a top-up, or a month of a plan.")
class Payment:
    """A payment."""

    id: BigInt = strawberry.field(description="The payment's id.")
    status: PaymentStatus = strawberry.field(description="The status.")
    description: str = strawberry.field(description="Description of the purchase.")
    credits: BigInt = strawberry.field(description="The credits that are bought.")
    amount: BigInt = strawberry.field(description=AMOUNT)
    currency: str = strawberry.field(description="The currency (ISO 4217), such as USD.")
    refunded: BigInt = strawberry.field(description="The part of the amount that was refunded.")
    provider: str = strawberry.field(description="The payment provider; manual for none.")
    created_by: strawberry.Private[str]
    created_at: datetime = strawberry.field(description="The time at which it was started.")
    paid_at: datetime | None = strawberry.field(description="The time at which it was paid; null until then.")

    @strawberry.field(
        graphql_type=str | None,
        description="The page on which a person pays; null unless the payment is pending.",
        directives=guarded("billing:write"),
    )
    def url(self) -> str | None:
        """Return the page."""
        payment = cast("models.Payment", self)  # resolvers return rows
        return payment.url or None if payment.status == PaymentStatus.pending else None

    @strawberry.field(graphql_type=int, description=DECIMALS)
    def decimals(self) -> int:
        """Return the number of decimals."""
        return money.decimals(self.currency)

    @strawberry.field(graphql_type=Actor | None, description="The user, key or application that started it.")
    def creator(self) -> Actor | None:
        """Return the actor."""
        return actor_of(self.created_by) if self.created_by else None


@strawberry.type(description="Credits for each month, at a price.")
class Plan:
    """A plan on offer."""

    name: str = strawberry.field(description="The name.")
    credits: BigInt = strawberry.field(description="The credits of each month.")
    amount: BigInt = strawberry.field(description=AMOUNT)
    currency: str = strawberry.field(description="The currency (ISO 4217), such as USD.")

    @strawberry.field(graphql_type=int, description=DECIMALS)
    def decimals(self) -> int:
        """Return the number of decimals."""
        return money.decimals(self.currency)


@strawberry.type(description="A plan that the account pays, or has paid, each month.")
class PlanSubscription:
    """A plan of the account."""

    id: BigInt = strawberry.field(description="Its id.")
    plan: str = strawberry.field(description="The name of the plan.")
    credits: BigInt = strawberry.field(description="The credits of each month.")
    amount: BigInt = strawberry.field(description=AMOUNT)
    currency: str = strawberry.field(description="The currency (ISO 4217), such as USD.")
    status: PlanStatus = strawberry.field(description="The status.")
    is_ending: bool = strawberry.field(description="True when it ends with the period that was paid.")
    period_end: datetime | None = strawberry.field(description="The end of the period that was paid.")
    created_at: datetime = strawberry.field(description="The time at which it became known to this service.")

    @strawberry.field(graphql_type=int, description=DECIMALS)
    def decimals(self) -> int:
        """Return the number of decimals."""
        return money.decimals(self.currency)


@strawberry.type(description="The saved payment method of the account.")
class PaymentMethod:
    """A payment method."""

    is_configured: bool = strawberry.field(description="Whether one is saved.")
    kind: str | None = strawberry.field(description="Its kind, such as card.")
    brand: str | None = strawberry.field(description="The brand of a card, such as visa.")
    last_four: str | None = strawberry.field(description="The last four digits of a card.")
    expires_month: int | None = strawberry.field(description="The month in which a card expires.")
    expires_year: int | None = strawberry.field(description="The year in which a card expires.")
    how_to: str = strawberry.field(description="Instructions to pay, or to save a payment method.")


@strawberry.type(description="Whether the account can pay for texts, and how credits are added.")
class BillingStatus:
    """The state of a balance, and the ways to add credits."""

    state: BillingState = strawberry.field(description="The state of the balance.")
    balance: BigInt = strawberry.field(description="Credits held.")
    low_balance: BigInt | None = strawberry.field(description="The credits below which the owners are warned, if any.")
    provider: str = strawberry.field(description="The payment provider; manual for none.")
    is_online: bool = strawberry.field(description="Whether top_up returns a page on which a person pays.")
    how_to: str = strawberry.field(description="Instructions to add credits.")
    plans: list[Plan] = strawberry.field(description="The plans on offer; at most 20.")


@strawberry.type(description="A page of the payment provider, on which a person pays.")
class PaymentPage:
    """A page to pay on."""

    url: str = strawberry.field(description="The address of the page.")


@strawberry.type
class PaymentQuery:
    """Reading payments and plans."""

    @strawberry.field(
        description="Whether the account can pay for texts, and how credits are added.",
        directives=guarded("billing:read"),
    )
    async def billing_status(self, info: Info) -> BillingStatus:
        """Return the state of the balance, and the ways to add credits."""
        payments, balance = info.context.services.payments, await billing.get_balance(info.context.unit)
        return BillingStatus(
            state=_state(balance),
            balance=BigInt(balance.balance),
            low_balance=None if balance.low_balance is None else BigInt(balance.low_balance),
            provider=payments.gateway.name,
            is_online=payments.gateway.is_online,
            how_to=_how_to(payments),
            plans=[
                Plan(name=p.name, credits=BigInt(p.credits), amount=BigInt(p.amount), currency=p.currency)
                for p in payments.plans
            ],
        )

    @strawberry.field(
        graphql_type=Connection[Payment],
        description="The payments of the account, the newest first.",
        directives=guarded("billing:read"),
    )
    async def payments(
        self,
        info: Info,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.Payment]:
        """Return one page of payments."""
        return await queries.find_page(info.context.unit, window(info, "payments", first, after, last, before, offset))

    @strawberry.field(
        graphql_type=list[PlanSubscription],
        description=f"The plans that the account pays or has paid, the newest first; at most {queries.MAX_SHOWN}.",
        directives=guarded("billing:read"),
    )
    async def plan_subscriptions(self, info: Info) -> Sequence[models.PlanSubscription]:
        """Return the plans."""
        return await queries.list_plans(info.context.unit)

    @strawberry.field(
        description="The saved payment method of the account, as the payment provider has it.",
        directives=guarded("billing:read", "payment_refused", "unavailable"),
        metadata=ASKS_ANOTHER_SERVICE,
    )
    async def payment_method(self, info: Info) -> PaymentMethod | None:
        """Return the payment method."""
        payments = info.context.services.payments
        return _method(await service.find_card(info.context.unit, payments), _how_to(payments))


@strawberry.type
class PaymentMutation:
    """Buying credits."""

    @strawberry.mutation(
        graphql_type=Payment,
        description="Start the purchase of credits, and return the payment: a person pays at its url. Without a "
        "payment provider the request is stored, and the operator adds the credits.",
        directives=guarded(
            "billing:write", "account_deletion_pending", "idempotency_key_reused", "payment_refused", "unavailable"
        ),
    )
    async def top_up(
        self,
        info: Info,
        credits: Annotated[
            BigInt,
            strawberry.argument(
                description="The credits to buy.", directives=[Constraint(minimum=1, maximum=service.MAX_TOP_UP)]
            ),
        ],
        idempotency_key: Annotated[
            str | None,
            strawberry.argument(
                description="A key of the caller's: a repetition with the same key returns the same payment.",
                directives=[Constraint(min_length=1, max_length=service.MAX_KEY)],
            ),
        ] = None,
    ) -> models.Payment:
        """Start a top-up."""
        return await service.top_up(info.context.unit, info.context.services.payments, credits, idempotency_key)

    @strawberry.mutation(
        description="Start a plan of monthly credits, and return the page on which a person pays it.",
        directives=guarded("billing:write", "account_deletion_pending", "conflict", "payment_refused", "unavailable"),
    )
    async def start_plan(
        self, info: Info, plan: Annotated[str, strawberry.argument(description="The name of a plan on offer.")]
    ) -> PaymentPage:
        """Start a plan."""
        return PaymentPage(url=await service.start_plan(info.context.unit, info.context.services.payments, plan))

    @strawberry.mutation(
        description=(
            "Return a page of the payment provider on which a person changes the payment method and sees invoices. It "
            "can be used for some minutes."
        ),
        directives=guarded("billing:write", "conflict", "payment_refused", "unavailable"),
    )
    async def open_payment_portal(self, info: Info) -> PaymentPage:
        """Open the portal."""
        return PaymentPage(url=await service.open_portal(info.context.unit, info.context.services.payments))

    @strawberry.mutation(
        graphql_type=PlanSubscription,
        description="Let a plan of the account end with the period that was paid, and return it.",
        directives=guarded("billing:write", "conflict", "not_found", "payment_refused", "unavailable"),
    )
    async def end_plan(
        self, info: Info, id: Annotated[BigInt, strawberry.argument(description="The id of the plan subscription.")]
    ) -> models.PlanSubscription:
        """End a plan."""
        return await service.end_plan(info.context.unit, info.context.services.payments, id)


def _state(balance: billing.Balance) -> BillingState:
    if balance.balance < 0:
        return BillingState.overdrawn
    if balance.balance == 0:
        return BillingState.empty
    return BillingState.low if balance.is_low else BillingState.ok


def _how_to(payments: service.Payments) -> str:
    if payments.gateway.is_online:
        return "Start a top-up with top_up, and pay at its url; the payment method is saved there."
    return payments.gateway.instructions


def _method(card: gateway.Card | None, how_to: str) -> PaymentMethod:
    return PaymentMethod(
        is_configured=card is not None,
        kind=card.kind if card else None,
        brand=(card.brand or None) if card else None,
        last_four=(card.last_four or None) if card else None,
        expires_month=card.expires_month if card else None,
        expires_year=card.expires_year if card else None,
        how_to=how_to,
    )

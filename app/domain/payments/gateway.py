"""The port to a payment provider, and the states that it reports.

A provider never changes a balance. A verified event only names the changed object; the gateway reads the present state
of it, and `service.settle` books the difference to the ledger. So events may come twice, late and in any order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from app.domain.kernel.errors import DomainError


class UnsignedPaymentEvent(DomainError):
    """The event of the payment provider is not signed with the secret of its endpoint, or too old."""

    code = "unsigned_payment_event"
    status = 403
    message = "The event is not signed by the payment provider."


class PaymentRefused(DomainError):
    """The payment provider refused the request; the text has its reason. Nothing was paid."""

    code = "payment_refused"
    status = 422
    message = "The payment provider refused the request: {reason}"


@dataclass(frozen=True, slots=True)
class Plan:
    """Credits for each month, at a price in the smallest unit of the currency, such as cents."""

    name: str
    credits: int
    amount: int
    currency: str


@dataclass(frozen=True, slots=True)
class Order:
    """A purchase to start: `key` identifies it at the provider too, so that its repetition starts nothing new.

    `amount` is in the smallest unit of the currency. A plan is paid each month, other orders once. `installation` is
    our key at providers: the ids of accounts are those of one installation.
    """

    account_id: int
    key: str
    credits: int
    amount: int
    currency: str
    description: str
    customer: str | None
    email: str
    return_url: str
    installation: str
    plan: Plan | None = None


@dataclass(frozen=True, slots=True)
class Checkout:
    """The page on which a person pays, its id at the provider as `reference`, and the customer's id there."""

    url: str
    customer: str | None
    reference: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """A saved payment method, as far as it may be shown."""

    kind: str
    brand: str
    last_four: str
    expires_month: int | None
    expires_year: int | None


@dataclass(frozen=True, slots=True)
class PaymentState:
    """The state of a payment at the provider. `refunded` and `disputed` are parts of `amount`.

    `key` is that of the order, or the id of the invoice of a plan; `reference` the provider's id of the payment.
    `installation` is that of the order, empty for an old one: see `origin.is_own`.
    """

    key: str
    reference: str
    account_id: int
    credits: int
    description: str
    amount: int
    currency: str
    is_paid: bool
    paid_at: datetime | None
    installation: str
    customer: str | None
    refunded: int = 0
    disputed: int = 0


@dataclass(frozen=True, slots=True)
class PlanState:
    """The state of a plan that an account pays at the provider; `installation` is as in `PaymentState`."""

    reference: str
    account_id: int
    plan: Plan
    status: str
    period_end: datetime | None
    is_ending: bool
    customer: str | None
    installation: str


@dataclass(frozen=True, slots=True)
class Notice:
    """The states of the payments and plans that a verified event is about, all read after the event was sent."""

    payments: Sequence[PaymentState] = ()
    plans: Sequence[PlanState] = ()


@dataclass(frozen=True, slots=True)
class CheckoutState:
    """The state of a checkout. `is_over` when its page closed unpaid; `notice` has its payment, also an unpaid one."""

    notice: Notice
    is_over: bool


class Gateway(Protocol):
    """A payment provider. `is_online` when people pay through it; otherwise `instructions` say how they do."""

    @property
    def name(self) -> str:
        """Return the name of the provider, as it is stored with payments."""
        ...

    @property
    def is_online(self) -> bool:
        """Return whether people pay through the provider."""
        ...

    @property
    def instructions(self) -> str:
        """Return how people pay where the provider is not online."""
        ...

    async def start(self, order: Order) -> Checkout:
        """Start a purchase; raise `PaymentRefused`, and `Unavailable` if the provider does not answer.

        The customer of the checkout is another one than that of the order if the provider does not have that any more.
        """
        ...

    async def find(self, reference: str) -> CheckoutState:
        """Return the state of a checkout; raise as `start` does."""
        ...

    async def close(self, reference: str) -> None:
        """Close the page of a checkout, if it exists, for payments; raise as `start` does. Idempotent."""
        ...

    async def close_all(self, customer: str) -> None:
        """Close all open pages of a customer, those for plans too; raise as `start` does. Idempotent."""
        ...

    async def open_portal(self, customer: str, return_url: str) -> str:
        """Return a page on which a customer changes the payment method and sees invoices; raise as `start` does."""
        ...

    async def end_plan(self, reference: str) -> PlanState | None:
        """Let a plan end with the period that was paid; None for one that does not exist. Raise as `start` does."""
        ...

    async def stop_plan(self, reference: str) -> PlanState | None:
        """End a plan now, without a refund; None for one that does not exist. Raise as `start` does. Idempotent."""
        ...

    async def find_card(self, customer: str) -> Card | None:
        """Return the saved payment method of a customer; raise as `start` does."""
        ...

    def verify(self, body: bytes, signature: str, now: datetime) -> None:
        """Raise `UnsignedPaymentEvent` unless an event is signed, and recent."""
        ...

    async def read(self, body: bytes) -> Notice:
        """Read the subjects of a verified event; raise as `start` does."""
        ...

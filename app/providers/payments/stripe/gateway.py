"""Stripe: Checkout for top-ups and plans, signed events, and the state of payments.

The SDK is synchronous: it is imported at the first use, and called in threads of its own. An event only names the
changed object; its present state is read from the API.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar

import structlog

from app.domain.kernel.errors import Unavailable
from app.domain.payments.gateway import (
    Card,
    Checkout,
    CheckoutState,
    Notice,
    Order,
    PaymentRefused,
    PaymentState,
    PlanState,
    UnsignedPaymentEvent,
)
from app.providers.payments.stripe.events import is_signed, subject_of
from app.providers.payments.stripe.objects import card_of, facts_of, is_ours, notice_of, plan_of, session_of

if TYPE_CHECKING:
    from stripe import Charge, InvoicePayment, PaymentIntent, StripeClient, Subscription
    from stripe.checkout import Session

T = TypeVar("T")
log = structlog.get_logger(__name__)

API_VERSION = "2026-10-28.endive"
"""The version of the API whose objects this module reads."""

TIMEOUT = 20.0
RETRIES = 2
CARD_TIMEOUT = 5.0
"""The maximum wait for a saved card: a person waits for a page that shows much else. It is asked for once."""

_THREADS, _CARD_THREADS = ThreadPoolExecutor(8, "stripe"), ThreadPoolExecutor(8, "stripe_cards")
"""Threads of this module alone: those of asyncio serve files. Pages that wait for cards hold up no payment."""

PAID = frozenset({"active", "trialing", "past_due", "unpaid"})
"""The statuses of subscriptions that were paid once, and go on."""

MONTHS = frozenset({"subscription_create", "subscription_cycle"})
"""The reasons of the invoices of a month; others are about what a person added or changed at Stripe."""

SETTLED_DISPUTES = frozenset({"won", "prevented", "warning_needs_response", "warning_under_review", "warning_closed"})
"""The statuses of disputes that hold no money back."""


@dataclass(frozen=True)
class Stripe:
    """The payment provider Stripe. `base_url` is that of its API, None for the real one."""

    secret_key: str = field(repr=False)
    webhook_secret: str = field(repr=False)
    base_url: str | None = None
    name: str = "stripe"
    is_online: bool = True
    instructions: str = ""

    async def start(self, order: Order) -> Checkout:
        """Create the customer, unless Stripe has it, and a Checkout session. Repetitions with one key create none."""
        return await self._call(lambda: self._start(order))

    async def find(self, reference: str) -> CheckoutState:
        """Return the state of a Checkout session; one that is open for long expires at Stripe."""

        def look() -> CheckoutState:
            session = self._client.v1.checkout.sessions.retrieve(reference)
            paid = [self._payment(str(session.payment_intent))] if session.payment_intent else []
            return CheckoutState(notice_of(paid), session.status == "expired")

        return await self._call(look)

    async def close(self, reference: str) -> None:
        """Expire a Checkout session; one that is complete, expired or unknown to Stripe stays as it is."""
        await self._call(lambda: _if_found(lambda: self._expire(reference)))

    async def close_all(self, customer: str) -> None:
        """Expire the open Checkout sessions of a customer, also those whose start was not stored."""

        def close() -> None:
            for page in self._list_open(customer):
                self._expire(page.id)

        await self._call(lambda: _if_found(close))

    async def open_portal(self, customer: str, return_url: str) -> str:
        """Create a session of the customer portal; it is used within minutes."""
        wanted = {"customer": customer, "return_url": return_url}
        session = await self._call(lambda: self._client.v1.billing_portal.sessions.create(wanted))
        return session.url

    async def end_plan(self, reference: str) -> PlanState | None:
        """Cancel a subscription at the end of its period. Stripe refuses to change one that was canceled meanwhile."""
        import stripe

        def end() -> Any:
            try:
                return self._client.v1.subscriptions.update(reference, {"cancel_at_period_end": True})
            except stripe.InvalidRequestError:
                found = self._client.v1.subscriptions.retrieve(reference)
                if found.status != "canceled":
                    raise
                return found

        return _plan_if_found(await self._call(lambda: _if_found(end)))

    async def stop_plan(self, reference: str) -> PlanState | None:
        """Cancel a subscription now. Stripe answers that it has none for one that was canceled meanwhile, too."""

        def stop() -> Any:
            found = self._client.v1.subscriptions.retrieve(reference)
            return found if found.status == "canceled" else self._client.v1.subscriptions.cancel(reference)

        return _plan_if_found(await self._call(lambda: _if_found(stop)))

    async def find_card(self, customer: str) -> Card | None:
        """Return the newest payment method of a customer; None for one that Stripe does not have."""

        def look() -> Any:
            return self._card_client.v1.customers.payment_methods.list(customer, {"limit": 1})

        try:
            async with asyncio.timeout(CARD_TIMEOUT):
                found = await self._call(lambda: _if_found(look), _CARD_THREADS)
        except TimeoutError:
            raise Unavailable() from None
        return card_of(found.data[0]) if found and found.data else None

    def verify(self, body: bytes, signature: str, now: datetime) -> None:
        """Verify an event. The SDK is not asked: it raises other errors for bytes that it did not expect."""
        if not is_signed(self.webhook_secret, body, signature, now.timestamp()):
            raise UnsignedPaymentEvent()

    async def read(self, body: bytes) -> Notice:
        """Read the payments and plans that an event is about."""
        about = subject_of(body)
        return await self._call(lambda: self._read(about)) if about else Notice()

    @cached_property
    def _client(self) -> "StripeClient":
        return self._connect(TIMEOUT, RETRIES)

    @cached_property
    def _card_client(self) -> "StripeClient":
        return self._connect(CARD_TIMEOUT, 0)

    def _connect(self, timeout: float, retries: int) -> "StripeClient":
        import stripe

        return stripe.StripeClient(
            self.secret_key,
            stripe_version=API_VERSION,
            base_addresses={"api": self.base_url} if self.base_url else None,
            max_network_retries=retries,
            http_client=stripe.RequestsClient(timeout=timeout),
        )

    async def _call(self, act: Callable[[], T], threads: ThreadPoolExecutor = _THREADS) -> T:
        """Run a call of the SDK in a thread, which also loads it, with its errors as ours."""
        return await asyncio.get_running_loop().run_in_executor(threads, _attempt, act)

    def _start(self, order: Order) -> Checkout:
        customer = self._find_customer(order) or self._create_customer(order)
        session = self._client.v1.checkout.sessions.create(
            session_of(order, customer),  # pyrefly: ignore[bad-argument-type] - built for two modes
            {"idempotency_key": _key_of("checkout", order.installation, order.key)},
        )
        if order.plan:
            self._keep_one_plan(customer, session.id)
        return Checkout(session.url or "", customer, session.id)

    def _keep_one_plan(self, customer: str, id: str) -> None:
        """Expire the open pages on which a customer pays a plan, except the newest, so that no two of them are paid.

        Raise `PaymentRefused` if a page was paid before it expired, or if `id` is not the newest one. Starts at the
        same time see one another, because each creates its page before it lists them.
        """
        pages = [each for each in self._list_open(customer) if each.mode == "subscription"]
        newest = max(pages, key=lambda page: (page.created, page.id)).id if pages else None
        for page in pages:
            if page.id != newest:
                self._expire(page.id)
        if self._pays_plan(customer):
            self._expire(id)
            raise PaymentRefused(reason="a plan of the account was paid a moment ago.")
        if id != newest:
            raise PaymentRefused(reason="a newer page for a plan was made at the same time. Use that one.")

    def _list_open(self, customer: str) -> "Sequence[Session]":
        found = self._client.v1.checkout.sessions.list({"customer": customer, "status": "open"})
        return list(found.auto_paging_iter())

    def _pays_plan(self, customer: str) -> bool:
        found = self._client.v1.subscriptions.list({"customer": customer})
        return any(each.status in PAID and is_ours(facts_of(each), "plan") for each in found.auto_paging_iter())

    def _expire(self, id: str) -> None:
        """Expire a Checkout session, unless it is complete or expired; Stripe refuses to expire those."""
        import stripe

        try:
            self._client.v1.checkout.sessions.expire(id)
        except stripe.InvalidRequestError:
            if self._client.v1.checkout.sessions.retrieve(id).status == "open":
                raise

    def _find_customer(self, order: Order) -> str | None:
        """Return the customer of an order if Stripe has it: a person may have deleted it there."""
        if order.customer is None:
            return None
        known: Any = _if_found(lambda: self._client.v1.customers.retrieve(str(order.customer)))
        return None if known is None or getattr(known, "deleted", False) else order.customer

    def _create_customer(self, order: Order) -> str:
        """Create the customer of an account: one, also for users who start the first purchases at the same time."""
        facts = {"metadata": {"account_id": str(order.account_id), "installation": order.installation}}
        former = [order.customer] if order.customer else []
        key = _key_of("customer", order.installation, str(order.account_id), *former)
        id = self._client.v1.customers.create(facts, {"idempotency_key": key}).id
        self._client.v1.customers.update(id, {"email": order.email})
        return id

    def _read(self, about: Mapping[str, str]) -> Notice:
        """Return the states of the payments and plans that an event is about."""
        id, intent, subscription = (about.get(name, "") for name in ("id", "payment_intent", "subscription"))
        match about.get("object"):
            case "checkout.session" if subscription:
                return self._plan(subscription)
            case "payment_intent":
                return notice_of([self._payment(id)])
            case "checkout.session" | "charge" | "refund" | "dispute":
                return notice_of([self._payment(intent)] if intent else [])
            case "invoice":
                return notice_of([self._invoice(id)])
            case "subscription":
                return self._plan(id)
            case _:
                return Notice()

    def _payment(self, id: str) -> PaymentState | None:
        """Return the state of a payment intent: that of an order, or that of the invoice of a plan."""
        intent = self._client.v1.payment_intents.retrieve(id, {"expand": ["latest_charge"]})
        facts = facts_of(intent)
        if is_ours(facts, "order", "description"):
            return PaymentState(
                key=facts["order"],
                reference=intent.id,
                account_id=int(facts["account_id"]),
                credits=int(facts["credits"]),
                description=facts["description"],
                amount=intent.amount,
                currency=intent.currency.upper(),
                is_paid=intent.status == "succeeded",
                paid_at=_paid_at(intent),
                installation=facts.get("installation", ""),
                customer=str(intent.customer or ""),
                **self._taken_back(intent.latest_charge),
            )
        of = {"payment": {"type": "payment_intent", "payment_intent": id}}
        found = self._client.v1.invoice_payments.list(of)
        return self._invoice(str(found.data[0].invoice)) if found.data else None

    def _invoice(self, id: str) -> PaymentState | None:
        """Return the state of the paid invoice of a month of a plan, with the refunded part; None for any other."""
        invoice: Any = self._client.v1.invoices.retrieve(id)
        details = invoice.parent.subscription_details if invoice.parent else None
        facts = facts_of(details)
        if not is_ours(facts, "plan") or invoice.status != "paid" or invoice.billing_reason not in MONTHS:
            return None
        taken = {"refunded": 0, "disputed": 0}
        for each in self._client.v1.invoice_payments.list({"invoice": id}).data:
            taken = {name: taken[name] + part for name, part in self._taken_from(each.payment).items()}
        return PaymentState(
            key=invoice.id,
            reference=invoice.id,
            account_id=int(facts["account_id"]),
            credits=int(facts["credits"]),
            description=f"Plan {facts['plan']}",
            amount=invoice.amount_paid,
            currency=invoice.currency.upper(),
            is_paid=True,
            paid_at=datetime.fromtimestamp(invoice.status_transitions.paid_at, UTC),
            installation=facts.get("installation", ""),
            customer=str(invoice.customer or ""),
            **taken,
        )

    def _taken_from(self, payment: "InvoicePayment.Payment") -> dict[str, int]:
        """Return the parts of a payment of an invoice that were taken back. The object lacks the ids of other types."""
        match payment.type:
            case "payment_intent":
                expanded = {"expand": ["latest_charge"]}
                intent = self._client.v1.payment_intents.retrieve(str(payment.payment_intent), expanded)
                return self._taken_back(intent.latest_charge)
            case "charge":
                return self._taken_back(self._client.v1.charges.retrieve(str(payment.charge)))
            case "payment_record":
                record = self._client.v1.payment_records.retrieve(str(payment.payment_record))
                return {"refunded": record.amount_refunded.value, "disputed": 0}
            case _:
                return {"refunded": 0, "disputed": 0}

    def _taken_back(self, charge: "str | Charge | None") -> dict[str, int]:
        """Return the parts of a charge that were refunded, and that open or lost disputes hold back."""
        assert not isinstance(charge, str), "the charge is expanded"
        if charge is None:
            return {"refunded": 0, "disputed": 0}
        disputes = self._client.v1.disputes.list({"charge": charge.id}).data if charge.disputed else []
        held = sum(each.amount for each in disputes if each.status not in SETTLED_DISPUTES)
        return {"refunded": charge.amount_refunded, "disputed": held}

    def _plan(self, id: str) -> Notice:
        """Return the state of a plan, and that of its newest invoice, whose own events may be lost."""
        subscription = self._client.v1.subscriptions.retrieve(id)
        invoice = subscription.latest_invoice
        month = _if_found(lambda: self._invoice(str(invoice))) if invoice else None
        return notice_of([month], [plan_of(subscription)])


def _attempt(act: Callable[[], T]) -> T:
    """Call the SDK, with its errors as ours. One about the key is for the operator: the caller cannot mend it."""
    import stripe

    try:
        return act()
    except (stripe.AuthenticationError, stripe.PermissionError) as error:
        log.warning("payment_provider_misconfigured", provider="stripe", reason=error.user_message)
        raise Unavailable() from None
    except (stripe.APIConnectionError, stripe.RateLimitError):
        raise Unavailable() from None
    except stripe.StripeError as error:
        if (error.http_status or 500) >= 500:
            raise Unavailable() from None
        raise PaymentRefused(reason=error.user_message or "no reason given.") from None


def _key_of(kind: str, *parts: str) -> str:
    """Return an idempotency key. It is a header: not all characters of callers' keys are allowed in one."""
    return f"{kind}/{sha256('/'.join(parts).encode()).hexdigest()}"


def _paid_at(intent: "PaymentIntent") -> datetime | None:
    charge: Any = intent.latest_charge
    return datetime.fromtimestamp(charge.created, UTC) if charge and intent.status == "succeeded" else None


def _if_found(act: Callable[[], T]) -> T | None:
    """Return the result of a call; None where Stripe answers that it does not have the object."""
    import stripe

    try:
        return act()
    except stripe.InvalidRequestError as error:
        if error.code != "resource_missing":
            raise
        return None


def _plan_if_found(subscription: "Subscription | None") -> PlanState | None:
    if subscription is None:
        return None
    state = plan_of(subscription)
    if state is None:
        raise PaymentRefused(reason="The subscription was not made by this service.")
    return state

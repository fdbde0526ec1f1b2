"""The objects of Stripe: those that are sent to it, and the states that are read from them."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from app.domain.payments.gateway import Card, Notice, Order, PaymentState, Plan, PlanState

if TYPE_CHECKING:
    from stripe import Invoice, PaymentIntent, PaymentMethod, Subscription


MAX_DIGITS = 18
"""The digits of the largest numbers that the database stores."""


def session_of(order: Order, customer: str) -> dict[str, Any]:
    """Return the parameters of a Checkout session."""
    facts = {"installation": order.installation, "account_id": str(order.account_id), "order": order.key}
    facts["credits"] = str(order.credits)
    price: dict[str, Any] = {
        "currency": order.currency.lower(),
        "unit_amount": order.amount,
        "product_data": {"name": order.description},
    }
    session: dict[str, Any] = {"customer": customer, "success_url": order.return_url, "cancel_url": order.return_url}
    if order.plan is None:
        payment = {"metadata": facts | {"description": order.description}, "setup_future_usage": "off_session"}
        return session | {
            "mode": "payment",
            "line_items": [{"quantity": 1, "price_data": price}],
            "payment_intent_data": payment,
        }
    price["recurring"] = {"interval": "month"}
    return session | {
        "mode": "subscription",
        "line_items": [{"quantity": 1, "price_data": price}],
        "subscription_data": {"metadata": facts | {"plan": order.plan.name}},
    }


def facts_of(holder: "Invoice | PaymentIntent | Subscription | None") -> dict[str, str]:
    """Return the metadata of an object, if it has any."""
    return holder.metadata.to_dict() if holder and holder.metadata else {}


def is_ours(facts: dict[str, str], *names: str) -> bool:
    """Return whether metadata is that of an object of this service, not of another one with the same Stripe account.

    Several installations of this service may use it, too: whether the object is of this one is left to the caller.
    """
    numbers = facts.get("account_id", ""), facts.get("credits", "")
    return all(
        each.isascii() and each.isdigit() and len(each) <= MAX_DIGITS for each in numbers
    ) and facts.keys() >= set(names)


def notice_of(payments: list[PaymentState | None], plans: list[PlanState | None] | None = None) -> Notice:
    """Return a notice without the objects that this service did not start."""
    return Notice([each for each in payments if each], [each for each in plans or [] if each])


def plan_of(subscription: "Subscription") -> PlanState | None:
    """Return the state of a subscription; None for one that this service did not start."""
    facts = facts_of(subscription)
    if not is_ours(facts, "plan"):
        return None
    item = min(subscription["items"].data, key=lambda each: each.created)  # people may have added others at Stripe
    plan = Plan(facts["plan"], int(facts["credits"]), item.price.unit_amount or 0, item.price.currency.upper())
    return PlanState(
        reference=subscription.id,
        account_id=int(facts["account_id"]),
        plan=plan,
        status=subscription.status,
        period_end=datetime.fromtimestamp(item.current_period_end, UTC),
        is_ending=subscription.cancel_at_period_end,
        customer=str(subscription.customer),
        installation=facts.get("installation", ""),
    )


def card_of(method: "PaymentMethod") -> Card:
    """Return a payment method, as far as it may be shown."""
    card = method.card if method.type == "card" else None
    return Card(
        kind=method.type,
        brand=card.brand if card else "",
        last_four=card.last4 if card else "",
        expires_month=card.exp_month if card else None,
        expires_year=card.exp_year if card else None,
    )

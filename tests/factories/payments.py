"""A payment provider that accepts every order at once, without a network."""

from dataclasses import replace
from datetime import UTC, datetime

from app.domain.payments.gateway import Card, Checkout, CheckoutState, Notice, Order, Plan, PlanState
from app.services import Services

PLAN = Plan("Starter", 1000, 900, "USD")


class Till:
    """An online gateway: orders are open, plans end, and every customer has a card."""

    name, is_online, instructions = "till", True, ""

    async def start(self, order: Order) -> Checkout:
        """Return a page, and the customer of the order, or one for the account."""
        return Checkout(f"https://pay.example/{order.key}", order.customer or f"customer-{order.account_id}")

    async def find(self, reference: str) -> CheckoutState:
        """Return a checkout that is still open."""
        return CheckoutState(Notice(), is_over=False)

    async def close(self, reference: str) -> None:
        """Do nothing."""

    async def close_all(self, customer: str) -> None:
        """Do nothing."""

    async def open_portal(self, customer: str, return_url: str) -> str:
        """Return a page of the customer."""
        return f"https://pay.example/{customer}"

    async def stop_plan(self, reference: str) -> PlanState:
        """Return the plan as ended."""
        return replace(await self.end_plan(reference), status="canceled")

    async def end_plan(self, reference: str) -> PlanState:
        """Return the plan as ending; the reference is the id of the account."""
        end = datetime(2027, 1, 1, tzinfo=UTC)
        return PlanState(reference, int(reference), PLAN, "active", end, is_ending=True, customer=None, installation="")

    async def find_card(self, customer: str) -> Card | None:
        """Return a card."""
        return Card("card", "visa", "4242", 8, 2030)

    def verify(self, body: bytes, signature: str, now: datetime) -> None:
        """Accept every event."""

    async def read(self, body: bytes) -> Notice:
        """Return nothing."""
        return Notice()


def with_till(services: Services) -> Services:
    """Return services with an online payment provider and a plan."""
    return replace(services, payments=replace(services.payments, gateway=Till(), plans=[PLAN]))

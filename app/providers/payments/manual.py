"""No payment provider: the operator gets the money in another way, and adds the credits."""

from dataclasses import dataclass
from datetime import datetime

from app.domain.kernel.errors import Conflict
from app.domain.payments.gateway import Card, Checkout, CheckoutState, Notice, Order, PlanState, UnsignedPaymentEvent


@dataclass(frozen=True, slots=True)
class Manual:
    """The port without a provider; `instructions` say how to pay."""

    instructions: str
    name: str = "manual"
    is_online: bool = False

    async def start(self, order: Order) -> Checkout:
        """Refuse: there is nothing to start."""
        raise Conflict(reason=self.instructions)

    async def find(self, reference: str) -> CheckoutState:
        """Refuse: there are no checkouts."""
        raise Conflict(reason=self.instructions)

    async def close(self, reference: str) -> None:
        """Do nothing: there are no checkouts."""

    async def close_all(self, customer: str) -> None:
        """Do nothing: there are no pages."""

    async def open_portal(self, customer: str, return_url: str) -> str:
        """Refuse: there is no such page."""
        raise Conflict(reason=self.instructions)

    async def stop_plan(self, reference: str) -> PlanState:
        """Refuse: there are no plans."""
        raise Conflict(reason=self.instructions)

    async def end_plan(self, reference: str) -> PlanState:
        """Refuse: there are no plans."""
        raise Conflict(reason=self.instructions)

    async def find_card(self, customer: str) -> Card | None:
        """Return None."""
        return None

    def verify(self, body: bytes, signature: str, now: datetime) -> None:
        """Refuse: no provider sends events."""
        raise UnsignedPaymentEvent()

    async def read(self, body: bytes) -> Notice:
        """Return nothing."""
        return Notice()

"""Events of balances."""

from dataclasses import dataclass

from app.domain.accounts.scopes import Scope
from app.domain.kernel.events import Event, event


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class LowBalance(Event):
    """The balance fell below the threshold of the account. It is not offered to subscribers."""

    name = "low_balance"
    subscribable = False
    scope = Scope.billing_read
    live_kind = None
    example = {"balance": 480, "threshold": 500}

    balance: int
    threshold: int

"""Events of balances."""

from dataclasses import dataclass

from app.domain.accounts.scopes import Scope
from app.domain.kernel.events import Event, UpdateKind, event


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


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class BalanceChanged(Event):
    """Credits were added, taken back, or spent on something other than a message.

    It is a live update, not offered to webhooks. The debit and the refund of a message appear in the events of that
    message. `actor` is the label of the actor that caused it.
    """

    name = "balance_changed"
    subscribable = False
    scope = Scope.billing_read
    live_kind = UpdateKind.balance_changed
    example = {"balance": 480, "actor": "user:7"}

    balance: int
    actor: str

"""Types of reactions and their arguments."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from app.db.engine import Connection


class OutboxEvent(NamedTuple):
    """A recorded event that is being dispatched."""

    id: int
    account_id: int
    name: str
    contact_id: int | None
    payload: dict[str, Any]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Batch:
    """Events that are dispatched together, those of an account in order, and the transaction that dispatches them.

    `answered` are the ids of those about texts that a reaction has answered already.
    """

    connection: Connection
    events: Sequence[OutboxEvent]
    now: datetime
    topics: set[str] = field(default_factory=set)
    answered: set[int] = field(default_factory=set)

    def notify(self, topic: str) -> None:
        """Notify a topic once the transaction is committed."""
        self.topics.add(topic)

    def find_accounts(self) -> frozenset[int]:
        """Return the accounts of the events."""
        return frozenset(event.account_id for event in self.events)


@dataclass(frozen=True, slots=True)
class Reaction:
    """Work that events cause, inserted in the transaction that dispatches them.

    If `run` raises, it is run again for fewer events, until the events that make it fail are known; for these it is
    retried later (`events.failures`). It runs once for an event, and again only after a failure. `name` identifies it
    in the table of failures.
    """

    name: str
    run: Callable[[Batch], Awaitable[None]]


class AccountsBusy(Exception):
    """Other transactions have locked rows of some accounts that a reaction would change.

    A reaction raises it instead of waiting. Only the events of these accounts are then delayed.
    """

    def __init__(self, account_ids: Iterable[int]) -> None:
        super().__init__()
        self.account_ids = frozenset(account_ids)


Watcher = Callable[[Sequence[OutboxEvent]], Awaitable[None]]
"""Receives the events of a batch after its commit, except when the process is killed in between."""

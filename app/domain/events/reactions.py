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
    """Events that are dispatched together, those of an account in order, and the transaction that dispatches them."""

    connection: Connection
    events: Sequence[OutboxEvent]
    now: datetime
    topics: set[str] = field(default_factory=set[str])

    def notify(self, topic: str) -> None:
        """Notify a topic once the transaction is committed."""
        self.topics.add(topic)

    def find_accounts(self) -> frozenset[int]:
        """Return the accounts of the events."""
        return frozenset(event.account_id for event in self.events)


@dataclass(frozen=True, slots=True)
class Reaction:
    """Work that follows from events, written in the transaction that dispatches them.

    Where `run` raises, it is run again for fewer events, until the events that it fails for are known; for these it is
    tried again later (`events.failures`). It is told of an event once, or again after a failure. `name` stands in the
    table of failures.
    """

    name: str
    run: Callable[[Batch], Awaitable[None]]


class AccountsBusy(Exception):
    """Other transactions hold rows of some accounts that a reaction would change.

    A reaction raises it rather than wait for them: the events of these accounts wait a moment, and others do not.
    """

    def __init__(self, account_ids: Iterable[int]) -> None:
        super().__init__()
        self.account_ids = frozenset(account_ids)


Watcher = Callable[[Sequence[OutboxEvent]], Awaitable[None]]
"""Receives the events of a batch after its commit, except when the process is killed in between."""

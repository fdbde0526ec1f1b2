"""Types of what the dispatcher hands to reactions."""

from collections.abc import Awaitable, Callable, Sequence
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
    """Events that are dispatched together, in order, and the transaction that dispatches them."""

    connection: Connection
    events: Sequence[OutboxEvent]
    now: datetime
    topics: set[str] = field(default_factory=set[str])

    def notify(self, topic: str) -> None:
        """Notify a topic once the transaction is committed."""
        self.topics.add(topic)


@dataclass(frozen=True, slots=True)
class Reaction:
    """Work that follows from events, written in the transaction that dispatches them.

    When `run` raises, its writes are undone, the error is reported, and the batch goes on without it. A reaction that
    is `required` undoes the whole batch instead, and the batch is dispatched again later.
    """

    run: Callable[[Batch], Awaitable[None]]
    required: bool = False


Watcher = Callable[[Sequence[OutboxEvent]], Awaitable[None]]
"""Receives the events of a batch after its commit. It misses those of a process that is killed in between."""

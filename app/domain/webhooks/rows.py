"""Rows that the statements of deliveries return."""

from datetime import datetime
from typing import NamedTuple, Protocol


class Owned(Protocol):
    """The columns that ending a subscription and notifying its account need."""

    @property
    def id(self) -> int:
        """Return its id."""
        ...

    @property
    def account_id(self) -> int:
        """Return the id of its account."""
        ...

    @property
    def target_url(self) -> str:
        """Return the URL that its events are posted to."""
        ...

    @property
    def creator_id(self) -> int | None:
        """Return the id of its row of `creators`; None for a subscription of the service itself."""
        ...


class Subscribed(NamedTuple):
    """A subscription that receives events. `is_locked` is true if another transaction has locked its row."""

    id: int
    account_id: int
    kind: str
    target_url: str
    events: list[str]
    status: str
    creator_id: int | None
    created_at: datetime
    is_locked: bool


class Leased(NamedTuple):
    """A subscription leased by this process. `has_lapsed` is true when the last lease expired without a release."""

    id: int
    account_id: int
    kind: str
    events: list[str]
    target_url: str
    creator_id: int | None
    secret: bytes
    old_secret: bytes | None
    old_secret_until: datetime | None
    leased_until: datetime
    lease: int
    revision: int
    failures: int
    trips: int
    open_until: datetime | None
    failing_since: datetime | None
    noticed: int
    has_lapsed: bool


class Leftover(NamedTuple):
    """A subscription that may have pending deliveries which it does not receive any more."""

    id: int
    kind: str
    events: list[str]
    status: str
    revision: int


class Due(NamedTuple):
    """A delivery that is due."""

    subscription_id: int
    id: int
    event: str
    webhook_id: str
    contact_id: int | None
    body: bytes
    attempts: int
    is_test: bool

"""Events of notices."""

from dataclasses import dataclass

from app.domain.accounts.scopes import Scope
from app.domain.kernel.events import Event, UpdateKind, event


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class OwnersNotified(Event):
    """Something happened that the owners of the account are to know of. It is not offered to subscribers.

    `kind` is one of `NoticeKind`; `subject_id` is the id of the campaign, webhook or integration that it is about.
    """

    name = "owners_notified"
    subscribable = False
    scope = Scope.account_read
    live_kind = None
    example = {
        "kind": "campaign",
        "title": "The campaign Spring has ended",
        "body": "340 of 350 texts were accepted.",
        "subject_id": 12,
    }

    kind: str
    title: str
    body: str
    subject_id: int | None = None


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class NoticesAdded(Event):
    """Users of the account got notices. It is a live update only, not offered to subscribers."""

    name = "notices_added"
    subscribable = False
    scope = Scope.account_read
    live_kind = UpdateKind.notice
    example = {"kinds": ["new_message"]}

    kinds: list[str]


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class NoticesRead(Event):
    """Users of the account read notices. It is a live update only, not offered to subscribers."""

    name = "notices_read"
    subscribable = False
    scope = Scope.account_read
    live_kind = UpdateKind.notice
    example = {}

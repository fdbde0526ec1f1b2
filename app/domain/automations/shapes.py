"""Shapes of the triggers and actions of automations: as callers write them, and as they are stored."""

import enum
from collections.abc import Sequence
from typing import Literal, NotRequired, Required, TypedDict

from app.domain.quiet_hours.rules import Weekday


class EventOperator(enum.StrEnum):
    """The comparison of a field of an event with a value, in any case."""

    eq = enum.auto()
    ne = enum.auto()
    contains = enum.auto()
    starts_with = enum.auto()


class Comparison(TypedDict):
    """A condition on a field of the payload of an event."""

    field: str
    op: EventOperator
    value: str


class GivenTrigger(TypedDict, total=False):
    """A trigger as callers write it; members that its kind does not need may be null."""

    kind: Required[str]
    event: str | None
    where: Sequence[Comparison] | None
    hours: int | None
    field: str | None
    at: str | None
    weekdays: Sequence[Weekday] | None


class EventTrigger(TypedDict):
    """Starts a run for each event of a name whose payload satisfies the conditions."""

    kind: Literal["event"]
    event: str
    where: list[Comparison]


class MissedReplyTrigger(TypedDict):
    """Starts a run when a contact has waited so many hours for a reply."""

    kind: Literal["missed_reply"]
    hours: int


class BirthdayTrigger(TypedDict):
    """Starts a run each year on the day of a custom field, at a minute of that day."""

    kind: Literal["birthday"]
    field: str
    minute: int


class ScheduleTrigger(TypedDict):
    """Starts runs at a minute of the day, on weekdays from 1, Monday, to 7."""

    kind: Literal["schedule"]
    minute: int
    weekdays: list[int]


Trigger = EventTrigger | MissedReplyTrigger | BirthdayTrigger | ScheduleTrigger


class GivenAction(TypedDict, total=False):
    """An action as callers write it; members that its kind does not need may be null."""

    kind: Required[str]
    body: str | None
    tag: str | None
    stage: str | None
    user_id: int | None
    sequence_id: int | None
    text: str | None
    minutes: int | None


class SendAction(TypedDict):
    """Sends a text; one that answers the person is a reply."""

    kind: Literal["send"]
    body: str
    is_reply: NotRequired[bool]


class WaitAction(TypedDict):
    """Waits before the next action."""

    kind: Literal["wait"]
    minutes: int


class AskAction(TypedDict):
    """Asks to confirm an opt-in. Only keywords have this action, because no gate checks its text."""

    kind: Literal["ask_opt_in"]
    message_id: int
    keyword: str
    tag: str


class ChangeAction(TypedDict, total=False):
    """Changes the rows of a contact, or reports; its kind tells which of the other members it has."""

    kind: Required[
        Literal[
            "add_tag",
            "remove_tag",
            "set_stage",
            "assign",
            "enroll",
            "exit_drips",
            "notify",
            "webhook",
            "ai_on",
            "ai_off",
        ]
    ]
    tag: str
    stage: str
    user_id: int
    sequence_id: int
    text: str


Action = SendAction | WaitAction | AskAction | ChangeAction

"""Triggers and actions of automations, as the contract takes and shows them."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import strawberry

from app.domain.automations import actions, triggers
from app.domain.automations.actions import ActionKind
from app.domain.automations.models import TriggerKind
from app.domain.automations.shapes import EventOperator
from app.domain.contacts.models import PipelineStage
from app.domain.contacts.service import MAX_TAG
from app.domain.kernel.sms_parts import MAX_LENGTH
from app.domain.quiet_hours.rules import Weekday
from app.graphql.core.directives import Constraint
from app.graphql.core.enums import describe
from app.graphql.core.scalars import BigInt

CONDITIONS, HOURS = Constraint(max_items=triggers.MAX_CONDITIONS), Constraint(minimum=1, maximum=triggers.MAX_HOURS)
DAYS = Constraint(max_items=len(Weekday))

describe(
    TriggerKind,
    "The kind of fact that starts runs of an automation.",
    {
        "event": "An event about a contact.",
        "schedule": "A time of the day, for every contact of the filter.",
        "missed_reply": "A contact waits for a reply for some hours.",
        "birthday": "The anniversary of a date of the contact.",
    },
    name="AutomationTriggerKind",
)
describe(
    EventOperator,
    "The comparison of a field of an event with a value. Upper and lower case are equal.",
    {
        "eq": "Equal.",
        "ne": "Not equal.",
        "contains": "The field contains the value.",
        "starts_with": "The field begins with the value.",
    },
)
describe(
    ActionKind,
    "The kind of an action.",
    {
        "send": "Send a text. It is promotional: quiet hours and frequency caps hold.",
        "add_tag": "Add a tag.",
        "remove_tag": "Remove a tag.",
        "set_stage": "Set the stage of the pipeline.",
        "assign": "Assign the contact to a user.",
        "enroll": "Enroll the contact in a drip sequence.",
        "exit_drips": "End the drip sequences of the contact.",
        "notify": "Give the owners of the account a notice.",
        "webhook": "Emit automation.webhook, which webhooks can subscribe to.",
        "ai_on": "Let AI agents answer in the conversation.",
        "ai_off": "Pause AI agents in the conversation.",
        "wait": "Wait before the next action.",
    },
    name="AutomationActionKind",
)


@strawberry.input(description="A condition on a field of the event, such as body or tag.")
class EventConditionInput:
    """A condition on the payload of an event."""

    field: str = strawberry.field(description="The field of the event, as its payload names it.")
    op: EventOperator = strawberry.field(description="The comparison.")
    value: str = strawberry.field(
        description="The value to compare with.", directives=[Constraint(max_length=triggers.MAX_VALUE)]
    )


@strawberry.input(description="The fact that starts runs.")
class AutomationTriggerInput:
    """A trigger; the kind decides which fields are read."""

    kind: TriggerKind = strawberry.field(description="The kind.")
    event: str | None = strawberry.field(default=None, description="For event: its name, such as new_contact.")
    where: list[EventConditionInput] | None = strawberry.field(
        default=None, description="For event: conditions on it, all required; at most 10.", directives=[CONDITIONS]
    )
    hours: int | None = strawberry.field(
        default=None, description="For missed_reply: the hours, 1 to 720.", directives=[HOURS]
    )
    field: str | None = strawberry.field(default=None, description="For birthday: the key of a custom field, a date.")
    at: str | None = strawberry.field(
        default=None, description="For schedule and birthday: the time of the account's day, such as 10:00."
    )
    weekdays: list[Weekday] | None = strawberry.field(
        default=None, description="For schedule: the days; every day without it.", directives=[DAYS]
    )


@strawberry.input(description="One action; its kind decides which field it needs.")
class AutomationActionInput:
    """An action."""

    kind: ActionKind = strawberry.field(description="The kind.")
    body: str | None = strawberry.field(
        default=None,
        description="For send: the text, with placeholders.",
        directives=[Constraint(min_length=1, max_length=MAX_LENGTH)],
    )
    tag: str | None = strawberry.field(
        default=None,
        description="For add_tag and remove_tag: the tag.",
        directives=[Constraint(min_length=1, max_length=MAX_TAG)],
    )
    stage: PipelineStage | None = strawberry.field(default=None, description="For set_stage: the stage.")
    user_id: BigInt | None = strawberry.field(default=None, description="For assign: the id of the user.")
    sequence_id: BigInt | None = strawberry.field(default=None, description="For enroll: the id of the sequence.")
    text: str | None = strawberry.field(
        default=None,
        description="For notify: the text of the notice. For webhook: the text of the event.",
        directives=[Constraint(min_length=1, max_length=actions.MAX_NOTE)],
    )
    minutes: int | None = strawberry.field(
        default=None,
        description="For wait: the minutes.",
        directives=[Constraint(minimum=1, maximum=actions.MAX_WAIT)],
    )


@strawberry.type(description="A condition on a field of the event, such as body or tag.")
class EventCondition:
    """A condition on the payload of an event."""

    field: str = strawberry.field(description="The field of the event, as its payload names it.")
    op: EventOperator = strawberry.field(description="The comparison.")
    value: str = strawberry.field(description="The value that it is compared with.")


@strawberry.type(description="The fact that starts runs. Its kind decides which fields have a value.")
class AutomationTrigger:
    """A trigger."""

    kind: TriggerKind = strawberry.field(description="The kind.")
    event: str | None = strawberry.field(description="Of event: its name, such as new_contact.")
    where: list[EventCondition] | None = strawberry.field(description="Of event: conditions on it, all required.")
    hours: int | None = strawberry.field(description="Of missed_reply: the hours.")
    field: str | None = strawberry.field(description="Of birthday: the key of a custom field, a date.")
    at: str | None = strawberry.field(description="Of schedule and birthday: the time of the account's day.")
    weekdays: list[Weekday] | None = strawberry.field(description="Of schedule: the days.")

    @classmethod
    def of(cls, trigger: Mapping[str, Any]) -> Self:
        """Return a trigger as it is stored, or as callers write it."""
        where = [
            EventCondition(field=each["field"], op=EventOperator(each["op"]), value=each["value"])
            for each in trigger.get("where") or ()
        ]
        return cls(
            kind=TriggerKind(trigger["kind"]),
            event=trigger.get("event"),
            where=where if trigger["kind"] == TriggerKind.event else None,
            hours=trigger.get("hours"),
            field=trigger.get("field"),
            at=triggers.find_clock(trigger),
            weekdays=triggers.find_weekdays(trigger),
        )


@strawberry.type(description="One action. Its kind decides which field has a value.")
class AutomationAction:
    """An action."""

    kind: ActionKind = strawberry.field(description="The kind.")
    body: str | None = strawberry.field(description="Of send: the text, with placeholders.")
    tag: str | None = strawberry.field(description="Of add_tag and remove_tag: the tag.")
    stage: PipelineStage | None = strawberry.field(description="Of set_stage: the stage.")
    user_id: BigInt | None = strawberry.field(description="Of assign: the id of the user.")
    sequence_id: BigInt | None = strawberry.field(description="Of enroll: the id of the sequence.")
    text: str | None = strawberry.field(
        description="Of notify: the text of the notice. Of webhook: the text of the event."
    )
    minutes: int | None = strawberry.field(description="Of wait: the minutes.")

    @classmethod
    def all_of(cls, given: Sequence[Mapping[str, Any]]) -> list[Self]:
        """Return actions as they are stored, or as callers write them."""
        names = ("body", "tag", "user_id", "sequence_id", "text", "minutes")
        return [
            cls(
                kind=ActionKind(each["kind"]),
                stage=PipelineStage(each["stage"]) if each.get("stage") else None,
                **{name: each.get(name) for name in names},
            )
            for each in given
        ]

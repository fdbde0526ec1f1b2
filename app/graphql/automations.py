"""Automations, as the contract shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, cast

import strawberry
from strawberry.scalars import JSON

from app.domain.automations import actions, library, models, queries, service, triggers
from app.domain.automations.models import AutomationStatus
from app.domain.automations.service import AutomationFields
from app.domain.kernel import idempotency
from app.domain.kernel.paging import Page
from app.domain.segments import filters, sentences
from app.graphql.actors import Actor, actor_of
from app.graphql.automation_shapes import (
    AutomationAction,
    AutomationActionInput,
    AutomationTrigger,
    AutomationTriggerInput,
)
from app.graphql.core import versions
from app.graphql.core.context import Info, given
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.idempotency import IdempotencyKey, once
from app.graphql.core.paging import After, Before, Connection, First, Last, Offset, window
from app.graphql.core.scalars import BigInt
from app.graphql.segments import SegmentFilter

NAME = Constraint(min_length=1, max_length=service.MAX_NAME)
ACTIONS = Constraint(min_items=1, max_items=actions.MAX_ACTIONS)

describe(
    AutomationStatus,
    "The status of an automation.",
    {"active": "Its trigger starts runs.", "paused": "It starts no runs."},
)
AutomationId = Annotated[BigInt, strawberry.argument(description="The automation's id.")]


@strawberry.input(description="An automation to create.")
class AutomationInput:
    """The fields of a new automation."""

    name: str = strawberry.field(description="The name, 1 to 100 characters.", directives=[NAME])
    trigger: AutomationTriggerInput = strawberry.field(description="The fact that starts runs.")
    filter: SegmentFilter | None = strawberry.field(
        default=None, description="The conditions that the contact must satisfy when the run starts."
    )
    actions: list[AutomationActionInput] = strawberry.field(description="In order, 1 to 20.", directives=[ACTIONS])


@strawberry.input(description="The fields to change; fields that are left out keep their values.")
class AutomationChanges:
    """The fields of an automation to change."""

    name: strawberry.Maybe[str | None] = strawberry.field(
        description="The name, 1 to 100 characters. Not null.", directives=[NAME]
    )
    trigger: strawberry.Maybe[AutomationTriggerInput | None] = strawberry.field(
        description="The fact that starts runs. Not null."
    )
    filter: strawberry.Maybe[SegmentFilter | None] = strawberry.field(
        description="The conditions on the contact; null for none."
    )
    actions: strawberry.Maybe[list[AutomationActionInput] | None] = strawberry.field(
        description="The actions in order, 1 to 20. Runs under way keep theirs. Not null.",
        directives=[ACTIONS],
    )


@strawberry.type(description="A trigger, conditions on the contact, and actions.")
class Automation:
    """An automation."""

    id: BigInt = strawberry.field(description="The automation's id.")
    name: str = strawberry.field(description="The name.")
    status: AutomationStatus = strawberry.field(description="The status.")
    filter: strawberry.Private[Any]
    version: int = strawberry.field(
        description="The version: 1 at first, and one more with each change by update_automation."
    )
    next_at: datetime | None = strawberry.field(
        description="The time at which it looks for contacts next; null for an event, or while it is paused."
    )
    created_by: strawberry.Private[str]
    created_at: datetime = strawberry.field(description="The time at which it was created.")
    updated_at: datetime = strawberry.field(description="The time of its last change.")

    @strawberry.field(description="The fact that starts runs.")
    def trigger(self) -> AutomationTrigger:
        """Return the trigger."""
        return AutomationTrigger.of(cast("models.Automation", self).trigger)

    @strawberry.field(description="The actions in order.")
    def actions(self) -> list[AutomationAction]:
        """Return the actions."""
        return AutomationAction.all_of(cast("models.Automation", self).actions)

    @strawberry.field(
        name="filter", graphql_type=JSON | None, description="The conditions on the contact, as create takes them."
    )
    def filter_of(self) -> Any:
        """Return the filter."""
        return filters.show(filters.load(self.filter)) if self.filter else None

    @strawberry.field(description="The automation in words.")
    def summary(self) -> str:
        """Return the sentence."""
        condition = f", if {sentences.describe(filters.load(self.filter))}" if self.filter else ""
        row = cast("models.Automation", self)  # resolvers return rows
        then = ", then ".join(actions.describe(each) for each in row.actions)
        return f"When {triggers.describe(row.trigger)}{condition}: {then}."

    @strawberry.field(description="The user, key or application that created it.")
    def creator(self) -> Actor:
        """Return the actor."""
        return actor_of(self.created_by)


@strawberry.type(description="A common automation, ready to be created.")
class AutomationTemplate:
    """A template."""

    key: str = strawberry.field(description="Its key.")
    name: str = strawberry.field(description="The name.")
    description: str = strawberry.field(description="The purpose.")

    @strawberry.field(description="The trigger, as create_automation takes it.")
    def trigger(self) -> AutomationTrigger:
        """Return the trigger."""
        return AutomationTrigger.of(cast("library.AutomationTemplate", self).trigger)

    @strawberry.field(description="The actions, as create_automation takes them.")
    def actions(self) -> list[AutomationAction]:
        """Return the actions."""
        return AutomationAction.all_of(cast("library.AutomationTemplate", self).actions)


@strawberry.type
class AutomationQuery:
    """Reading automations."""

    @strawberry.field(
        graphql_type=Connection[Automation],
        description="The automations of the account, the newest first.",
        directives=guarded("account:read"),
    )
    async def automations(
        self,
        info: Info,
        status: Annotated[AutomationStatus | None, strawberry.argument(description="The status.")] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.Automation]:
        """Return one page of automations."""
        page = window(info, "automations", first, after, last, before, offset)
        return await queries.find_automations(info.context.unit, status, page)

    @strawberry.field(
        graphql_type=Automation | None,
        description="One automation; null beside the error not_found.",
        directives=guarded("account:read", "not_found"),
    )
    async def automation(self, info: Info, id: AutomationId) -> models.Automation:
        """Return an automation."""
        return await queries.get_automation(info.context.unit, id)

    @strawberry.field(
        graphql_type=list[AutomationTemplate],
        description="Common automations, ready to be created; at most 20.",
        directives=guarded("account:read"),
    )
    async def automation_templates(self) -> Sequence[library.AutomationTemplate]:
        """Return the templates."""
        return library.TEMPLATES


@strawberry.type
class AutomationMutation:
    """Changing automations."""

    @strawberry.mutation(
        graphql_type=Automation,
        description=(
            "Create a paused automation, and return it. set_automation_status activates it. Its actions need the "
            "scopes of the same changes by hand, such as messages:send to send."
        ),
        directives=guarded(
            "campaigns:write",
            "conflict",
            "idempotency_key_reused",
            "insufficient_scope",
            "message_too_long",
            "not_found",
        ),
    )
    async def create_automation(
        self,
        info: Info,
        automation: Annotated[AutomationInput, strawberry.argument(description="The automation to create.")],
        idempotency_key: IdempotencyKey = None,
    ) -> models.Automation:
        """Create an automation."""
        unit, fields = info.context.unit, _fields(vars(automation))
        digest = idempotency.fingerprint("create_automation", automation=automation)
        id = await once(info, idempotency_key, digest, lambda: service.create(unit, fields))
        return await queries.get_automation(unit, id)

    @strawberry.mutation(
        graphql_type=Automation,
        description="Change an automation, and return it. Needs the scopes of its actions, as create_automation does.",
        directives=guarded("campaigns:write", "conflict", "insufficient_scope", "message_too_long", "not_found"),
    )
    async def update_automation(
        self,
        info: Info,
        id: AutomationId,
        changes: Annotated[AutomationChanges, strawberry.argument(description="The fields to change.")],
        expected_version: Annotated[int | None, versions.expected("automation")] = None,
    ) -> models.Automation:
        """Change an automation."""
        fields = _fields(dict(given(vars(changes), AutomationFields)))
        return await service.update_automation(info.context.unit, id, fields, expected_version)

    @strawberry.mutation(
        graphql_type=Automation,
        description=(
            "Activate or pause an automation, and return it. A pause cancels the runs that wait. To activate it needs "
            "the scopes of its actions; with texts, it certifies the prior express written consent of their recipients."
        ),
        directives=guarded("campaigns:write", "insufficient_scope", "not_found"),
    )
    async def set_automation_status(
        self,
        info: Info,
        id: AutomationId,
        enabled: Annotated[bool, strawberry.argument(description="True to activate it, false to pause it.")],
    ) -> models.Automation:
        """Activate or pause an automation."""
        return await service.set_status(info.context.unit, id, enabled=enabled)

    @strawberry.mutation(
        graphql_type=Automation,
        description="Delete an automation with its runs, and return it.",
        directives=guarded("campaigns:write", "not_found"),
    )
    async def delete_automation(self, info: Info, id: AutomationId) -> models.Automation:
        """Delete an automation."""
        return await service.delete(info.context.unit, id)


def _fields(written: dict[str, Any]) -> AutomationFields:
    """Return the fields of the domain."""
    fields = dict(written)
    if trigger := fields.get("trigger"):
        where = [vars(each) for each in trigger.where or ()]
        fields["trigger"] = {**vars(trigger), "where": where}
    if filter := fields.get("filter"):
        fields["filter"] = filter.read()
    if fields.get("actions") is not None:
        fields["actions"] = [vars(each) for each in fields["actions"]]
    return cast("AutomationFields", fields)

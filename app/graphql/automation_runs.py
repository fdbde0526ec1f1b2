"""Runs of automations, as the contract shows them."""

from datetime import datetime
from typing import Annotated, Any

import strawberry

from app.domain.automations import models, queries
from app.domain.automations.models import RunOutcome, RunStatus
from app.domain.contacts import queries as contacts
from app.domain.kernel.paging import Page
from app.graphql.contacts import Contact
from app.graphql.core.context import Info
from app.graphql.core.directives import guarded
from app.graphql.core.enums import describe
from app.graphql.core.loading import Load
from app.graphql.core.paging import After, Before, Connection, First, Last, Offset, window
from app.graphql.core.scalars import BigInt

describe(
    RunStatus,
    "The status of a run.",
    {
        "running": "Its actions are executed.",
        "waiting": "It waits for the time of its next action.",
        "done": "All actions were executed or refused.",
        "skipped": "The contact did not satisfy the conditions, or its time had passed for too long.",
        "canceled": "The automation was paused.",
        "failed": "The service could not execute an action, several times.",
    },
    name="AutomationRunStatus",
)
describe(
    RunOutcome,
    "The result of an action of a run.",
    {
        "done": "It changed what it says.",
        "sent": "Its text was accepted.",
        "waited": "Its wait began.",
        "refused": "It was refused, with a code and a reason; the next action followed.",
    },
    name="AutomationRunOutcome",
)


@strawberry.type(description="A condition of a run: the value that the contact had, and whether the condition held.")
class RunCondition:
    """A condition of a run."""

    condition: str = strawberry.field(description="The condition in words.")
    value: str | None = strawberry.field(description="The value of the contact; null without one.")
    holds: bool = strawberry.field(description="Whether it held.")


@strawberry.type(description="The result of one action of a run.")
class RunResult:
    """The result of an action."""

    action: str = strawberry.field(description="The action in words.")
    outcome: RunOutcome = strawberry.field(description="The result.")
    code: str | None = strawberry.field(description="The error code of a refusal.")
    text: str | None = strawberry.field(description="The reason of a refusal.")
    message_id: BigInt | None = strawberry.field(description="The id of the text that was sent.")


@strawberry.type(description="One execution of an automation, or of the reply of a keyword, for a contact.")
class AutomationRun:
    """A run."""

    id: BigInt = strawberry.field(description="The run's id.")
    automation_id: BigInt | None = strawberry.field(description="The automation; null for the reply of a keyword.")
    contact_id: BigInt = strawberry.field(description="The id of the contact.")
    status: RunStatus = strawberry.field(description="The status.")
    reason: str = strawberry.field(
        description="The reason of a run that was skipped, canceled or failed, or whose next action is tried again."
    )
    attempts: BigInt = strawberry.field(description="The attempts of the next action that did not succeed.")
    due_at: datetime | None = strawberry.field(description="The time of its next action; null at its end.")
    created_at: datetime = strawberry.field(description="The time at which it was started.")
    ended_at: datetime | None = strawberry.field(description="The time of its end.")

    @strawberry.field(
        description="Each condition; empty until they were checked. At most 50.", directives=guarded("contacts:read")
    )
    def conditions(self) -> list[RunCondition]:
        """Return the conditions."""
        row: Any = self
        return [RunCondition(**each) for each in row.conditions]

    @strawberry.field(description="The result of each action so far, at most 20.")
    def results(self) -> list[RunResult]:
        """Return the results."""
        row: Any = self
        names = ("action", "outcome", "code", "text", "message_id")
        return [RunResult(**{name: each.get(name) for name in names}) for each in row.results]

    @strawberry.field(graphql_type=Contact | None, description="The contact.", directives=guarded("contacts:read"))
    def contact(self, info: Info) -> Load[Any]:
        """Return the contact."""
        return info.context.load(contacts.find_many, self.contact_id)


@strawberry.type
class AutomationRunQuery:
    """Reading runs."""

    @strawberry.field(
        graphql_type=Connection[AutomationRun],
        description="The runs of the last 90 days, the newest first: all, or those of an automation or with a status.",
        directives=guarded("account:read"),
    )
    async def automation_runs(
        self,
        info: Info,
        automation_id: Annotated[BigInt | None, strawberry.argument(description="The automation's id.")] = None,
        status: Annotated[RunStatus | None, strawberry.argument(description="The status.")] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.AutomationRun]:
        """Return one page of runs."""
        page = window(info, "automation_runs", first, after, last, before, offset)
        return await queries.find_runs(info.context.unit, automation_id, status, page)

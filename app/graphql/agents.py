"""AI agents and their knowledge, as the contract shows them."""

from datetime import datetime
from typing import Annotated, Any, cast

import strawberry
from strawberry.types.maybe import Maybe

from app.domain.agents import knowledge, models, queries, service
from app.domain.agents.models import AgentMode, AgentStatus, KnowledgeKind
from app.domain.agents.service import LIMITS, AgentFields
from app.domain.kernel import idempotency
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.paging import Page
from app.domain.quiet_hours.rules import EVERY_DAY, clock
from app.graphql.actors import Actor, actor_of
from app.graphql.core import versions
from app.graphql.core.context import Info, given, row_of
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.idempotency import IdempotencyKey, once
from app.graphql.core.paging import After, Before, Connection, First, Last, Offset, window
from app.graphql.core.scalars import BigInt
from app.graphql.quiet_hours import Weekday

describe(
    AgentStatus,
    "The status of an AI agent.",
    {"active": "It answers.", "paused": "It answers nothing."},
    name="AiAgentStatus",
)
describe(
    AgentMode,
    "The use of an AI agent's drafts.",
    {
        "auto": "They are sent.",
        "approve": "They wait for approval.",
        "shadow": "They are only recorded, as a trial.",
    },
    name="AiAgentMode",
)
describe(
    KnowledgeKind,
    "The kind of an entry of knowledge.",
    {"document": "A text, of which the passages are found.", "faq": "A question and its answer."},
    name="AiKnowledgeKind",
)

AgentId = Annotated[BigInt, strawberry.argument(description="The AI agent's id.")]


def _limit(name: str, description: str) -> Any:
    least, most = LIMITS[name]
    return strawberry.field(
        default=None,
        description=f"{description}, {least} to {most}.",
        directives=[Constraint(minimum=least, maximum=most)],
    )


@strawberry.type(description="A document, or a question with its answer, from which an AI agent answers.")
class AiKnowledge:
    """An entry of knowledge."""

    id: BigInt = strawberry.field(description="The id of the entry.")
    agent_id: BigInt = strawberry.field(description="The AI agent's id.")
    kind: KnowledgeKind = strawberry.field(description="The kind of the entry.")
    title: str = strawberry.field(description="The title of the document, or the question.")
    body: str = strawberry.field(description="The text of the document, or the answer.")
    created_by: strawberry.Private[str]
    created_at: datetime = strawberry.field(description="The time at which it was added.")

    @strawberry.field(description="The user, key or application that added it.")
    def creator(self) -> Actor:
        """Return the actor."""
        return actor_of(self.created_by)


@strawberry.type(description="An AI agent: it answers texts of contacts within gates that no model decides on.")
class AiAgent:
    """An agent."""

    id: BigInt = strawberry.field(description="The AI agent's id.")
    name: str = strawberry.field(description="Its name.")
    status: AgentStatus = strawberry.field(description="Its status.")
    mode: AgentMode = strawberry.field(description="The use of its drafts.")
    persona: str = strawberry.field(description="The way in which it introduces itself.")
    goals: str = strawberry.field(description="Goals of its conversations.")
    instructions: str = strawberry.field(description="Its instructions.")
    number_ids: list[BigInt] = strawberry.field(description="The ids of the numbers that it answers at; empty for all.")
    segment_id: BigInt | None = strawberry.field(description="The segment of the contacts that it answers. Null: all.")
    debounce_seconds: int = strawberry.field(description="The seconds that it waits for further texts.")
    max_messages: int = strawberry.field(description="The maximum number of texts in a conversation without a person.")
    max_unanswered: int = strawberry.field(description="The maximum number of texts without an answer of the contact.")
    max_segments: int = strawberry.field(description="The maximum number of SMS parts of a text.")
    daily_limit: int = strawberry.field(description="The maximum number of drafts in a day (UTC).")
    hand_over_to: BigInt | None = strawberry.field(description="The user to whom it hands conversations over.")
    hand_over_message: str = strawberry.field(description="The text that it sends when it hands over.")
    version: int = strawberry.field(
        description="The version: 1 at first, and one more with each change by update_ai_agent."
    )
    created_by: strawberry.Private[str]
    created_at: datetime = strawberry.field(description="The time at which it was created.")
    updated_at: datetime = strawberry.field(description="The time of its last change.")

    @strawberry.field(description="The days on which it answers, in the account's time zone; empty for all.")
    def weekdays(self) -> list[Weekday]:
        """Return the days."""
        return [EVERY_DAY[day - 1] for day in row_of(self, models.Agent).days]

    @strawberry.field(description="The start of its hours in the account's time zone, such as 09:00.")
    def opens_at(self) -> str:
        """Return the time."""
        return clock(row_of(self, models.Agent).opens_at)

    @strawberry.field(description="The end of its hours, such as 17:00.")
    def closes_at(self) -> str:
        """Return the time."""
        return clock(row_of(self, models.Agent).closes_at)

    @strawberry.field(description="The user, key or application that created it.")
    def creator(self) -> Actor:
        """Return the actor."""
        return actor_of(self.created_by)


@strawberry.input(description="The fields of an AI agent to change; omitted fields keep their values.")
class AiAgentChanges:
    """Changes of an agent."""

    name: Maybe[str | None] = strawberry.field(
        default=None,
        description="Its name.",
        directives=[Constraint(min_length=1, max_length=service.MAX_NAME)],
    )
    mode: Maybe[AgentMode | None] = strawberry.field(default=None, description="The use of its drafts.")
    persona: Maybe[str | None] = strawberry.field(
        default=None,
        description="The way in which it introduces itself.",
        directives=[Constraint(max_length=service.MAX_TEXT)],
    )
    goals: Maybe[str | None] = strawberry.field(
        default=None, description="Goals of its conversations.", directives=[Constraint(max_length=service.MAX_TEXT)]
    )
    instructions: Maybe[str | None] = strawberry.field(
        default=None,
        description="Its instructions; facts in them may be stated.",
        directives=[Constraint(max_length=service.MAX_TEXT)],
    )
    number_ids: Maybe[list[BigInt] | None] = strawberry.field(
        default=None,
        description="The ids of the numbers that it answers at; empty for all.",
        directives=[Constraint(max_items=service.MAX_NUMBERS)],
    )
    segment_id: Maybe[BigInt | None] = strawberry.field(
        default=None, description="The segment of the contacts that it answers; null for all."
    )
    weekdays: Maybe[list[Weekday] | None] = strawberry.field(
        default=None, description="The days on which it answers; empty for all."
    )
    opens_at: Maybe[str | None] = strawberry.field(default=None, description="The start of its hours, such as 09:00.")
    closes_at: Maybe[str | None] = strawberry.field(default=None, description="The end of its hours, up to 24:00.")
    debounce_seconds: Maybe[int | None] = _limit("debounce_seconds", "The seconds that it waits for further texts")
    max_messages: Maybe[int | None] = _limit(
        "max_messages", "The maximum number of texts in a conversation without a person"
    )
    max_unanswered: Maybe[int | None] = _limit("max_unanswered", "The maximum number of texts without an answer")
    max_segments: Maybe[int | None] = _limit("max_segments", "The maximum number of SMS parts of a text")
    daily_limit: Maybe[int | None] = _limit("daily_limit", "The maximum number of drafts in a day (UTC)")
    hand_over_to: Maybe[BigInt | None] = strawberry.field(
        default=None, description="The user to whom it hands conversations over; null for none."
    )
    hand_over_message: Maybe[str | None] = strawberry.field(
        default=None,
        description="The text that it sends when it hands over, 320 characters at most.",
        directives=[Constraint(max_length=service.MAX_HAND_OVER)],
    )


@strawberry.type
class AgentQuery:
    """AI agents."""

    @strawberry.field(
        graphql_type=Connection[AiAgent],
        description="The AI agents, the newest first.",
        directives=guarded("agents:read"),
    )
    async def ai_agents(
        self,
        info: Info,
        status: Annotated[AgentStatus | None, strawberry.argument(description="Only this status.")] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.Agent]:
        """Return one page of agents."""
        wanted = window(info, "ai_agents", first, after, last, before, offset)
        return await queries.find_page(info.context.unit, status, wanted)

    @strawberry.field(
        graphql_type=AiAgent | None,
        description="One AI agent.",
        directives=guarded("agents:read", "not_found"),
    )
    async def ai_agent(self, info: Info, id: AgentId) -> models.Agent:
        """Return an agent."""
        return await queries.get(info.context.unit, id)

    @strawberry.field(
        graphql_type=Connection[AiKnowledge] | None,
        description="The documents and questions of an AI agent, the newest first.",
        directives=guarded("agents:read", "not_found"),
    )
    async def ai_knowledge(
        self,
        info: Info,
        agent_id: AgentId,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.Knowledge]:
        """Return one page of knowledge."""
        wanted = window(info, "ai_knowledge", first, after, last, before, offset)
        return await queries.find_knowledge(info.context.unit, agent_id, wanted)


@strawberry.type
class AgentMutation:
    """Changing AI agents and their knowledge."""

    @strawberry.mutation(
        graphql_type=AiAgent,
        description=(
            "Create an AI agent, and return it. It is paused, and its drafts wait for approval unless mode says "
            "otherwise; the mode auto needs messages:send too."
        ),
        directives=guarded("agents:write", "conflict", "idempotency_key_reused", "insufficient_scope", "not_found"),
    )
    async def create_ai_agent(
        self,
        info: Info,
        name: Annotated[
            str,
            strawberry.argument(
                description="Its name.", directives=[Constraint(min_length=1, max_length=service.MAX_NAME)]
            ),
        ],
        instructions: Annotated[
            str,
            strawberry.argument(
                description=f"Its instructions, {service.MAX_TEXT} characters at most.",
                directives=[Constraint(max_length=service.MAX_TEXT)],
            ),
        ],
        mode: Annotated[AgentMode, strawberry.argument(description="The use of its drafts.")] = AgentMode.approve,
        details: Annotated[
            AiAgentChanges | None, strawberry.argument(description="Its other fields, none of which is an argument.")
        ] = None,
        idempotency_key: IdempotencyKey = None,
    ) -> models.Agent:
        """Create an agent."""
        own: AgentFields = {"name": name, "instructions": instructions, "mode": mode}
        others = _fields(details)
        if doubled := sorted(own.keys() & others.keys()):
            reason = f"{doubled[0]} is an argument of its own. Leave it out of details."
            raise InvalidInput(reason=reason, field=f"details.{doubled[0]}")
        unit, fields = info.context.unit, cast("AgentFields", {**others, **own})
        digest = idempotency.fingerprint("create_ai_agent", **fields)
        id = await once(info, idempotency_key, digest, lambda: service.create(unit, fields))
        return await queries.get(unit, id)

    @strawberry.mutation(
        graphql_type=AiAgent,
        description=(
            "Change an AI agent, and return it; omitted fields keep their values. The mode auto needs messages:send "
            "too."
        ),
        directives=guarded("agents:write", "conflict", "insufficient_scope", "not_found"),
    )
    async def update_ai_agent(
        self,
        info: Info,
        id: AgentId,
        changes: Annotated[AiAgentChanges, strawberry.argument(description="The fields to change.")],
        expected_version: Annotated[int | None, versions.expected("AI agent")] = None,
    ) -> models.Agent:
        """Change an agent."""
        return await service.update(info.context.unit, id, _fields(changes), expected_version)

    @strawberry.mutation(
        graphql_type=AiAgent,
        description=(
            "Activate or pause an AI agent, and return it. To activate one in the mode auto needs messages:send too."
        ),
        directives=guarded("agents:write", "insufficient_scope", "not_found"),
    )
    async def set_ai_agent_status(
        self,
        info: Info,
        id: AgentId,
        status: Annotated[AgentStatus, strawberry.argument(description="The new status.")],
    ) -> models.Agent:
        """Change the status."""
        return await service.set_status(info.context.unit, id, status)

    @strawberry.mutation(
        graphql_type=AiAgent,
        description="Delete an AI agent with its knowledge and its runs, and return it.",
        directives=guarded("agents:write", "not_found"),
    )
    async def delete_ai_agent(self, info: Info, id: AgentId) -> models.Agent:
        """Delete an agent."""
        return await service.delete(info.context.unit, id)

    @strawberry.mutation(
        graphql_type=AiKnowledge,
        description="Add a document, or a question with its answer, to the knowledge of an AI agent, and return it.",
        directives=guarded("agents:write", "conflict", "not_found"),
    )
    async def add_ai_knowledge(
        self,
        info: Info,
        agent_id: AgentId,
        kind: Annotated[KnowledgeKind, strawberry.argument(description="The kind of the entry.")],
        title: Annotated[
            str,
            strawberry.argument(
                description=f"The title of the document, or the question, 1 to {knowledge.MAX_TITLE} characters.",
                directives=[Constraint(min_length=1, max_length=knowledge.MAX_TITLE)],
            ),
        ],
        body: Annotated[
            str,
            strawberry.argument(
                description=f"The text of the document, {knowledge.MAX_DOCUMENT} characters at most, or the answer, "
                f"{knowledge.MAX_ANSWER} at most.",
                directives=[Constraint(max_length=knowledge.MAX_DOCUMENT)],
            ),
        ],
    ) -> models.Knowledge:
        """Add knowledge."""
        return await knowledge.add(info.context.unit, agent_id, kind, title, body)

    @strawberry.mutation(
        graphql_type=AiKnowledge,
        description="Remove a document or question from the knowledge of an AI agent, and return it.",
        directives=guarded("agents:write", "not_found"),
    )
    async def remove_ai_knowledge(
        self, info: Info, id: Annotated[BigInt, strawberry.argument(description="The id of the entry.")]
    ) -> models.Knowledge:
        """Remove knowledge."""
        return await knowledge.remove(info.context.unit, id)


def _fields(changes: AiAgentChanges | None) -> AgentFields:
    return given(vars(changes), AgentFields) if changes else {}

"""Message copy, as the contract shows it."""

from typing import Annotated

import strawberry

from app.domain.writing import service, status
from app.domain.writing.service import Composition
from app.domain.writing.writer import DEFAULT_COUNT
from app.graphql.core.context import Info
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.idempotency import IdempotencyKey
from app.graphql.core.scalars import BigInt

CODES = (
    "ai_unavailable",
    "brief_not_understood",
    "idempotency_key_reused",
    "insufficient_credits",
    "too_many_ai_calls",
    "unavailable",
)
BRIEF = Constraint(min_length=1, max_length=service.MAX_BRIEF)
HINT = Constraint(max_length=service.MAX_HINT)
DESCRIPTION = f"A description of the copy to write, 1 to {service.MAX_BRIEF} characters."
GOAL = f"The goal of the campaign, with its facts, 1 to {service.MAX_BRIEF} characters."
AUDIENCE = f"The recipients, as a hint, {service.MAX_HINT} characters at most."
TONE = f"The tone, such as warm, {service.MAX_HINT} characters at most."
NOTICE = "The reason why no AI wrote them: none is connected, or it failed. Null where an AI did."


@strawberry.type(description="Candidate texts for a message.")
class GeneratedCopy:
    """The texts of a writer, and its name."""

    bodies: list[str] = strawberry.field(description="The candidates, the best first; {first_name} is a placeholder.")
    credits_remaining: BigInt = strawberry.field(description="The balance after paying for them.")
    provider: str = strawberry.field(description="The writer: template without an AI, else openai or anthropic.")
    model: str | None = strawberry.field(description="The language model. Null for the template writer.")
    notice: str | None = strawberry.field(description=NOTICE)


@strawberry.type(description="The AI that writes texts and drafts replies.")
class AiStatus:
    """The status of the AI."""

    is_connected: bool = strawberry.field(description="Whether a language model is connected.")
    provider: str = strawberry.field(description="The writer: template without an AI, else openai or anthropic.")
    model: str | None = strawberry.field(description="The language model. Null for the template writer.")
    how_to_connect: str | None = strawberry.field(
        description="Instructions to connect an AI. Null where one is connected."
    )
    credits_per_call: int = strawberry.field(description="The price of a call, refunded when nothing usable came.")
    calls_at_once: int = strawberry.field(description="The maximum number of concurrent calls of an account.")


@strawberry.type
class WritingQuery:
    """The status of the AI."""

    @strawberry.field(
        graphql_type=AiStatus,
        description="The AI that writes texts: its provider and model, or how to connect one.",
        directives=guarded("ai:use"),
    )
    async def ai_status(self, info: Info) -> status.AiStatus:
        """Return the status."""
        return status.get_status(info.context.services.writers)


@strawberry.type
class WritingMutation:
    """Writing copy."""

    @strawberry.mutation(
        graphql_type=GeneratedCopy,
        description=(
            "Write and return candidate texts from a description. Costs 1 credit, refunded when the AI returns nothing "
            "usable. Without an AI, templates write them, and instructions that they cannot follow are refused for "
            "free."
        ),
        directives=guarded("ai:use", *CODES),
    )
    async def generate_copy(
        self,
        info: Info,
        description: Annotated[str, strawberry.argument(description=DESCRIPTION, directives=[BRIEF])],
        idempotency_key: IdempotencyKey = None,
    ) -> service.Copy:
        """Write candidates."""
        copy = await service.generate(info.context.unit, info.context.services.writers, description, idempotency_key)
        info.context.replayed = copy.replayed
        return copy

    @strawberry.mutation(
        graphql_type=GeneratedCopy,
        description=(
            "Write and return texts for a campaign from its goal; they may have each placeholder of the account. Costs "
            "1 credit, refunded when the AI returns nothing usable."
        ),
        directives=guarded("ai:use", *CODES),
    )
    async def compose_copy(
        self,
        info: Info,
        goal: Annotated[str, strawberry.argument(description=GOAL, directives=[BRIEF])],
        audience: Annotated[str, strawberry.argument(description=AUDIENCE, directives=[HINT])] = "",
        tone: Annotated[str, strawberry.argument(description=TONE, directives=[HINT])] = "",
        count: Annotated[
            int,
            strawberry.argument(
                description=f"The number of texts, 1 to {service.MAX_COUNT}.",
                directives=[Constraint(minimum=1, maximum=service.MAX_COUNT)],
            ),
        ] = DEFAULT_COUNT,
        idempotency_key: IdempotencyKey = None,
    ) -> service.Copy:
        """Write texts of a campaign."""
        wanted = Composition(goal, audience, tone, count)
        copy = await service.compose(info.context.unit, info.context.services.writers, wanted, idempotency_key)
        info.context.replayed = copy.replayed
        return copy

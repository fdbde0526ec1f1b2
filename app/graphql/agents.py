"""Message copy, as the contract shows it."""

from typing import Annotated

import strawberry

from app.domain.agents import service
from app.graphql.core.context import Info
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.idempotency import IdempotencyKey
from app.graphql.core.scalars import BigInt


@strawberry.type(description="Candidate texts for a message.")
class GeneratedCopy:
    """What a writer wrote."""

    bodies: list[str] = strawberry.field(description="The candidates, the best first; {first_name} is a placeholder.")
    credits_remaining: BigInt = strawberry.field(description="The balance after paying for them.")


@strawberry.type
class AgentMutation:
    """Writing copy."""

    @strawberry.mutation(
        graphql_type=GeneratedCopy,
        description="Write candidate texts from a description. Costs 1 credit.",
        directives=guarded("ai:use", "idempotency_key_reused", "insufficient_credits", "unavailable"),
    )
    async def generate_copy(
        self,
        info: Info,
        description: Annotated[
            str,
            strawberry.argument(
                description=f"A description of the copy to write, 1 to {service.MAX_BRIEF} characters.",
                directives=[Constraint(min_length=1, max_length=service.MAX_BRIEF)],
            ),
        ],
        idempotency_key: IdempotencyKey = None,
    ) -> service.Copy:
        """Write candidates."""
        copy = await service.generate(info.context.unit, info.context.services.writer, description, idempotency_key)
        info.context.replayed = copy.replayed
        return copy

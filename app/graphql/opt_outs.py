"""Opt-outs and consents that were given by other means, as the contract shows them."""

from typing import Annotated

import strawberry

from app.domain.contacts import models
from app.domain.conversations import review
from app.graphql.contacts import Contact, ContactId
from app.graphql.core.context import Info
from app.graphql.core.directives import guarded


@strawberry.type
class OptOutMutation:
    """Recording opt-outs and consents."""

    @strawberry.mutation(
        graphql_type=Contact,
        description="Record an opt-out that came by mail, on the phone or in person. It holds at once.",
        directives=guarded("contacts:write", "not_found"),
    )
    async def record_opt_out(
        self,
        info: Info,
        id: ContactId,
        method: Annotated[
            str, strawberry.argument(description="The way in which it was given, such as email or verbal.")
        ],
        text: Annotated[str, strawberry.argument(description="The words of the person.")] = "",
    ) -> models.Contact:
        """Record an opt-out."""
        return await review.record_opt_out(info.context.unit, id, method, text)

    @strawberry.mutation(
        graphql_type=Contact,
        description="Record a new written consent of a person who had opted out, with its evidence.",
        directives=guarded("contacts:write", "not_found"),
    )
    async def record_opt_in(
        self,
        info: Info,
        id: ContactId,
        method: Annotated[str, strawberry.argument(description="The way in which it was given, such as web_form.")],
        text: Annotated[str, strawberry.argument(description="The words that the person agreed to.")],
    ) -> models.Contact:
        """Record a consent."""
        return await review.record_opt_in(info.context.unit, id, method, text)

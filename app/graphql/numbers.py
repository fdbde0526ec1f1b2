"""Sending numbers, as the contract shows them."""

from collections.abc import Sequence
from datetime import datetime

import strawberry

from app.domain.numbers import models, queries
from app.graphql.core.context import Info
from app.graphql.core.directives import guarded
from app.graphql.core.scalars import BigInt


@strawberry.type(description="A number that the account sends from and receives on.")
class PhoneNumber:
    """A sending number."""

    id: BigInt = strawberry.field(description="The number's id.")
    phone_number: str = strawberry.field(description="The number in E.164 form.")
    label: str = strawberry.field(description="What the account calls it.")
    carrier: str = strawberry.field(description="The carrier that serves it.")
    is_primary: bool = strawberry.field(description="True for the number that is used when none is named.")
    created_at: datetime = strawberry.field(description="When the account got it.")


@strawberry.type
class NumberQuery:
    """Reading sending numbers."""

    @strawberry.field(
        graphql_type=list[PhoneNumber],
        description=f"The account's active numbers, the primary one first; at most {queries.MAX_LISTED:,}.",
        directives=guarded("numbers:read"),
    )
    async def phone_numbers(self, info: Info) -> Sequence[models.PhoneNumber]:
        """Return the active numbers."""
        return await queries.list_active(info.context.unit)

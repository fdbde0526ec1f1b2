"""Sending numbers, as the contract shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import strawberry

from app.domain.messages import pacing
from app.domain.numbers import models, paces, queries, service
from app.graphql.core.context import Info, row_of
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.scalars import BigInt

NumberId = Annotated[BigInt, strawberry.argument(description="The number's id.")]


@strawberry.type(description="A number that the account sends from and receives on.")
class PhoneNumber:
    """A sending number."""

    id: BigInt = strawberry.field(description="The number's id.")
    phone_number: str = strawberry.field(description="The number in E.164 form.")
    label: str = strawberry.field(description="The label that the account gave it.")
    carrier: str = strawberry.field(description="The carrier that serves it.")
    is_primary: bool = strawberry.field(description="True for the number that is used when none is named.")
    parts_per_second: float | None = strawberry.field(
        description=(
            "The pace of the number: the SMS parts that leave from it in a second at most. Texts beyond it wait, the "
            "most urgent first. Null for no limit."
        )
    )
    created_at: datetime = strawberry.field(description="The time at which the account got it.")

    @strawberry.field(description="False while it is paused: then no new text is accepted from it.")
    def is_active(self) -> bool:
        """Tell whether the number sends."""
        return not row_of(self, models.PhoneNumber).is_paused


@strawberry.type
class NumberQuery:
    """Reading sending numbers."""

    @strawberry.field(
        graphql_type=list[PhoneNumber],
        description=f"The account's numbers, the primary one first; at most {queries.MAX_LISTED:,}. Paused ones are "
        "among them, released ones are not.",
        directives=guarded("numbers:read"),
    )
    async def phone_numbers(self, info: Info) -> Sequence[models.PhoneNumber]:
        """Return the active numbers."""
        return await queries.list_active(info.context.unit)


@strawberry.type
class NumberMutation:
    """Changing sending numbers."""

    @strawberry.mutation(
        graphql_type=PhoneNumber,
        description=(
            "Set the pace of a sending number, and return the number. Networks filter texts, or refuse them, when more "
            "leave than the registration of the number allows."
        ),
        directives=guarded("numbers:write", "not_found"),
    )
    async def set_phone_number_pace(
        self,
        info: Info,
        id: NumberId,
        parts_per_second: Annotated[
            float | None,
            strawberry.argument(
                description=(
                    f"SMS parts a second, from {paces.SLOWEST:g} to {paces.FASTEST:g}. Null sets the default of the "
                    f"number's kind: {paces.LONG_CODE:g} for a long code, {paces.TOLL_FREE:g} for a toll-free number, "
                    f"{paces.SHORT_CODE:g} for a short code, no limit in the sandbox."
                )
            ),
        ] = None,
    ) -> models.PhoneNumber:
        """Set a number's pace."""
        return await pacing.set_pace(info.context.unit, id, parts_per_second)

    @strawberry.mutation(
        graphql_type=PhoneNumber,
        description=(
            "Choose the number that is used when none is named, and return it. A number of the sandbox can be chosen "
            "only while the account has no other."
        ),
        directives=guarded("numbers:write", "conflict", "not_found"),
    )
    async def set_primary_phone_number(self, info: Info, id: NumberId) -> models.PhoneNumber:
        """Choose the primary number."""
        return await service.set_primary(info.context.unit, id)

    @strawberry.mutation(
        graphql_type=PhoneNumber,
        description=(
            "Pause a sending number, or resume it, and return it. No new text is accepted from a paused number: other "
            "numbers take its place, and another one becomes the primary. Accepted texts leave, and texts still come "
            "in."
        ),
        directives=guarded("numbers:write", "not_found"),
    )
    async def set_phone_number_active(
        self,
        info: Info,
        id: NumberId,
        active: Annotated[bool, strawberry.argument(description="False to pause the number, true to resume it.")],
    ) -> models.PhoneNumber:
        """Pause or resume a number."""
        return await service.set_paused(info.context.unit, id, paused=not active)

    @strawberry.mutation(
        graphql_type=PhoneNumber,
        description="Give a sending number another label, which only the account sees, and return the number.",
        directives=guarded("numbers:write", "not_found"),
    )
    async def rename_phone_number(
        self,
        info: Info,
        id: NumberId,
        label: Annotated[
            str,
            strawberry.argument(
                description=f"The label, 1 to {service.MAX_LABEL} characters.",
                directives=[Constraint(min_length=1, max_length=service.MAX_LABEL)],
            ),
        ],
    ) -> models.PhoneNumber:
        """Rename a number."""
        return await service.rename(info.context.unit, id, label)

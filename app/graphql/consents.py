"""Records of consent, as the contract shows them."""

from datetime import datetime

import strawberry

from app.domain.consent.models import ConsentKind
from app.graphql.actors import Actor, actor_in
from app.graphql.core.directives import guarded
from app.graphql.core.enums import describe
from app.graphql.core.scalars import BigInt

describe(
    ConsentKind,
    "The statement of a consent record.",
    {
        "opt_in": "The person agreed to texts.",
        "opt_out": "The person texted a stop word.",
        "re_opt_in": "The person agreed again after an opt-out.",
        "attested": "The sender of a text certified that the person had agreed.",
        "revoked_other": "The person took consent back in another way than by a stop word.",
    },
)


@strawberry.type(description="One statement of consent or its withdrawal. Records are only ever added.")
class Consent:
    """A consent record."""

    id: BigInt = strawberry.field(description="The record's id.")
    kind: ConsentKind = strawberry.field(description="The statement of the record.")
    method: str = strawberry.field(
        description="The way in which consent was given or withdrawn, such as keyword or web_form."
    )
    text: str = strawberry.field(
        description="The text that was shown to the person, or that the person sent.",
        directives=guarded("messages:read"),
    )
    message_id: BigInt | None = strawberry.field(description="The id of the message that contained it.")
    recorded_at: datetime = strawberry.field(description="The time at which it was recorded.")

    @strawberry.field(description="The user, key, application or part of the service that recorded it.")
    def actor(self) -> Actor:
        """Return the actor."""
        return actor_in(self)

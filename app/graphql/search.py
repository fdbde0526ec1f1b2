"""Search of the records of an account, as the contract shows it."""

from collections.abc import Sequence
from typing import Annotated

import strawberry

from app.domain.contacts.queries import NEWEST
from app.domain.search import service
from app.domain.search.service import FoundKind
from app.graphql.core.context import Info
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.scalars import BigInt

describe(
    FoundKind,
    "The kind of a record that a search found, in the order of the results.",
    {
        "contact": "A contact, by its name, phone or e-mail address; needs contacts:read.",
        "conversation": "The conversation with such a contact; needs conversations:read too.",
        "campaign": "A campaign, by its name; needs campaigns:read.",
        "sequence": "A drip sequence, by its name; needs campaigns:read.",
        "segment": "A segment, by its name; needs campaigns:read.",
        "template": "A template, by its name; needs campaigns:read.",
        "automation": "An automation, by its name; needs account:read.",
        "agent": "An AI agent, by its name; needs agents:read.",
        "number": "A sending number, by its label or its digits; needs numbers:read.",
    },
)


@strawberry.type(name="FoundRecord", description="A record that a search found.")
class FoundRecord:
    """A record; resolvers return those of the domain."""

    kind: FoundKind = strawberry.field(description="The kind of the record.")
    id: BigInt = strawberry.field(description="The id of the record, among those of its kind.")
    name: str = strawberry.field(description="Its name; for a contact without one, the phone.")
    detail: str = strawberry.field(
        description="The phone of a contact or number, else the status, if the kind has one."
    )


@strawberry.type
class SearchQuery:
    """Searching records."""

    @strawberry.field(
        graphql_type=list[FoundRecord],
        description=(
            f"Records whose name or phone contains a text, in any case: at most {service.MOST} of each kind that the "
            "caller's scopes let it read. Contacts are searched for texts with three letters or digits in a row; in a "
            f"large account only the newest {NEWEST:,}, where all would take long."
        ),
        directives=guarded("account:read"),
    )
    async def search(
        self,
        info: Info,
        text: Annotated[
            str,
            strawberry.argument(
                description="A part of a name or of a phone.",
                directives=[Constraint(min_length=1, max_length=service.MAX_TEXT)],
            ),
        ],
    ) -> Sequence[service.Found]:
        """Return the records."""
        return await service.find(info.context.unit, text)

"""The sources of messages, as the contract shows them."""

from typing import Any

import strawberry

from app.domain.campaigns import queries as campaigns
from app.domain.messages import sources
from app.domain.messages.models import Message
from app.domain.messages.sources import Source
from app.domain.sequences import queries as sequences
from app.graphql.core.context import Info, row_of
from app.graphql.core.directives import guarded
from app.graphql.core.enums import describe
from app.graphql.core.lazy import lazily
from app.graphql.core.loading import Load

describe(
    Source,
    "The part of the product through which a message came about.",
    {
        "user": "A user sent it.",
        "api": "An API key sent it.",
        "application": "A connected application sent it.",
        "campaign": "A campaign sent it.",
        "sequence": "A drip sequence sent it.",
        "automation": "An automation sent it.",
        "agent": "An AI agent wrote it.",
        "keyword": "It answers STOP, START, HELP or a watched keyword.",
        "integration": "An integration sent it: a scheduling tool about a booking, or a CRM.",
        "service": "The service or its operator sent it.",
        "contact": "The contact sent it.",
    },
    name="MessageSource",
)


@strawberry.type
class FromSource:
    """A message that names its source."""

    @strawberry.field(description="The part of the product through which it came about; actor names the record.")
    def source(self) -> Source:
        """Return the source."""
        return sources.source_of(row_of(self, Message))

    @strawberry.field(
        graphql_type=lazily("Campaign", "app.graphql.campaigns") | None,
        description="The campaign that sent it; null for other sources.",
        directives=guarded("campaigns:read"),
    )
    def campaign(self, info: Info) -> Load[Any]:
        """Return the campaign."""
        return info.context.load(campaigns.find_many, sources.find_id(row_of(self, Message), Source.campaign))

    @strawberry.field(
        graphql_type=lazily("Enrollment", "app.graphql.enrollments") | None,
        description="The enrollment of the contact in the drip sequence that sent it; null for other sources.",
        directives=guarded("campaigns:read"),
    )
    async def enrollment(self, info: Info) -> Any:
        """Return the enrollment."""
        message = row_of(self, Message)
        sequence_id = sources.find_id(message, Source.sequence)
        key = None if sequence_id is None else (sequence_id, message.contact_id, message.created_at)
        return await info.context.load(sequences.find_enrollments_at, key)

"""Checks of phone numbers, as the contract shows them."""

from datetime import datetime
from typing import Annotated

import strawberry

from app.domain.contacts import number_checks
from app.domain.contacts.number_checks import MAX_CHECKED
from app.domain.kernel import phone as phones
from app.domain.kernel.phone import Confidence, LineType, NumberValidation
from app.graphql.core.context import Info
from app.graphql.core.directives import guarded
from app.graphql.core.enums import describe
from app.graphql.core.scalars import BigInt

describe(
    NumberValidation,
    "Whether a number fits the numbering plan of its country.",
    {
        "valid": "The number is of a range in use.",
        "possible_not_valid": "It has the right length, but no known range: new, or a mistake.",
        "invalid": "It is not a phone number.",
    },
)
describe(
    LineType,
    "The kind of line of a number.",
    {
        "mobile": "A mobile phone.",
        "landline": "A landline, which takes no texts.",
        "voip": "A number on the internet.",
        "toll_free": "A toll-free number.",
        "unknown": "The numbering plan does not say, as in North America.",
    },
)
describe(
    Confidence,
    "The reliability of a statement about a number.",
    {
        "high": "The numbering plan says so.",
        "medium": "It was so when the range was assigned, and numbers are not ported there.",
        "low": "It was so when the range was assigned; the number may have been ported since.",
        "none": "Nothing is known.",
    },
)

Country = Annotated[
    str | None,
    strawberry.argument(description="The country of national numbers, such as GB; by default the account's region."),
]


@strawberry.type(description="What is known about a phone number without asking a carrier.")
class NumberCheck:
    """A checked number."""

    phone: str = strawberry.field(description="The number as it was given.")
    e164: str | None = strawberry.field(description="The number in E.164 form; null when it is not a number.")
    reason: str = strawberry.field(description="The reason why it cannot be texted; empty when it can.")
    contact_id: BigInt | None = strawberry.field(description="The contact, when it was asked for by its id.")
    checked_at: datetime = strawberry.field(description="The time of the check.")
    facts: strawberry.Private[phones.NumberFacts]

    @strawberry.field(description="Whether it fits the numbering plan of its country.")
    def validation(self) -> NumberValidation:
        """Return the validity."""
        return self.facts.validation

    @strawberry.field(description="True when the number can be texted.")
    def can_be_texted(self) -> bool:
        """Return whether there is no reason against it."""
        return not self.reason

    @strawberry.field(description="The country of the number, such as US; null when it is of none.")
    def region(self) -> str | None:
        """Return the country."""
        return self.facts.region

    @strawberry.field(description="The kind of line.")
    def line_type(self) -> LineType:
        """Return the kind of line."""
        return self.facts.line_type

    @strawberry.field(description="The reliability of the kind of line.")
    def line_type_confidence(self) -> Confidence:
        """Return the reliability of the line type."""
        return self.facts.line_type_confidence

    @strawberry.field(description="The carrier that the range of the number was assigned to; null when not known.")
    def carrier(self) -> str | None:
        """Return the name of the carrier."""
        return phones.find_carrier(self.e164).name if self.e164 else None

    @strawberry.field(description="The reliability of the name of the carrier.")
    def carrier_confidence(self) -> Confidence:
        """Return the reliability of the carrier."""
        return phones.find_carrier(self.e164).confidence if self.e164 else Confidence.none

    @strawberry.field(description="The source of the statements: offline, from the numbering plans.")
    def source(self) -> str:
        """Return the source."""
        return "offline"


@strawberry.type
class NumberCheckQuery:
    """Checking numbers."""

    @strawberry.field(
        graphql_type=list[NumberCheck],
        description=f"Check phones, and the phones of contacts, at most {MAX_CHECKED} together. Costs nothing.",
        directives=guarded("contacts:read", "not_found"),
    )
    async def validate_contacts(
        self,
        info: Info,
        phones: Annotated[list[str] | None, strawberry.argument(description="Phones in any spelling.")] = None,
        contact_ids: Annotated[list[BigInt] | None, strawberry.argument(description="Ids of contacts.")] = None,
        country: Country = None,
    ) -> list[number_checks.NumberCheck]:
        """Check several numbers."""
        return await number_checks.check_all(info.context.unit, phones or [], contact_ids or [], country)

    @strawberry.field(
        graphql_type=NumberCheck,
        description=(
            "Look up the carrier and the kind of line of a phone. The answer comes from the numbering plans, without "
            "asking a carrier: see its source and its confidence. Costs nothing."
        ),
        directives=guarded("contacts:read"),
    )
    async def carrier_lookup(
        self,
        info: Info,
        phone: Annotated[str, strawberry.argument(description="The phone in any spelling.")],
        country: Country = None,
    ) -> number_checks.NumberCheck:
        """Look up one number."""
        return await number_checks.look_up(info.context.unit, phone, country)

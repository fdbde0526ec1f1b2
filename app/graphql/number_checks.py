"""Checks of phone numbers, as the contract shows them."""

from datetime import datetime
from typing import Annotated

import strawberry

from app.domain.contacts import number_checks
from app.domain.contacts.number_checks import MAX_CHECKED, CheckSource
from app.domain.kernel import phone as phones
from app.domain.kernel.phone import Confidence, LineType, NumberValidation
from app.graphql.core.context import Info, row_of
from app.graphql.core.directives import ASKS_ANOTHER_SERVICE, Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.scalars import BigInt

CHECKED = Constraint(max_items=MAX_CHECKED)

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
        "high": "Certain: stated by the numbering plan, or by the carrier that was asked.",
        "medium": "Correct when the range was assigned, in a country where numbers are not ported.",
        "low": "Correct when the range was assigned; the number may have been ported since.",
        "none": "Nothing is known.",
    },
)

Country = Annotated[
    str | None,
    strawberry.argument(description="The country of national numbers, such as GB; by default the account's region."),
]


describe(
    CheckSource,
    "The source of the statements about a number.",
    {"offline": "The numbering plans.", "carrier": "The carrier that was asked."},
    name="NumberCheckSource",
)


@strawberry.type(description="The facts about a phone number. Without a connection, no carrier is asked.")
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

    @strawberry.field(
        description=(
            "The carrier of the number, where one was asked; else the one that its range was assigned to. Null when "
            "not known."
        )
    )
    def carrier(self) -> str | None:
        """Return the name of the carrier."""
        return row_of(self, number_checks.NumberCheck).carrier.name

    @strawberry.field(description="The reliability of the name of the carrier.")
    def carrier_confidence(self) -> Confidence:
        """Return the reliability of the carrier."""
        return row_of(self, number_checks.NumberCheck).carrier.confidence

    source: CheckSource = strawberry.field(description="The source of the statements.")


@strawberry.type
class NumberCheckQuery:
    """Checking numbers."""

    @strawberry.field(
        graphql_type=list[NumberCheck] | None,
        description=f"Check phones, and the phones of contacts, at most {MAX_CHECKED} together. Costs nothing. Null "
        "beside the error not_found.",
        directives=guarded("contacts:read", "not_found"),
    )
    async def validate_contacts(
        self,
        info: Info,
        phones: Annotated[
            list[str] | None, strawberry.argument(description="Phones in any spelling.", directives=[CHECKED])
        ] = None,
        contact_ids: Annotated[
            list[BigInt] | None, strawberry.argument(description="Ids of contacts.", directives=[CHECKED])
        ] = None,
        country: Country = None,
    ) -> list[number_checks.NumberCheck]:
        """Check several numbers."""
        return await number_checks.check_all(info.context.unit, phones or [], contact_ids or [], country)

    @strawberry.field(
        graphql_type=NumberCheck | None,
        description=(
            "Look up the carrier and the kind of line of a phone. The answer comes from the numbering plans and costs "
            "nothing; through a connection it comes from its carrier, which charges the connection's owner, at most "
            "once in 30 days for a phone, and needs the scope numbers:write. See its source and its confidence. Null "
            "beside an error."
        ),
        directives=guarded(
            "contacts:read",
            "insufficient_scope",
            "not_found",
            "rate_limited",
            "carrier_connection_refused",
            "carrier_unreachable",
        ),
        metadata=ASKS_ANOTHER_SERVICE,
    )
    async def carrier_lookup(
        self,
        info: Info,
        phone: Annotated[str, strawberry.argument(description="The phone in any spelling.")],
        country: Country = None,
        through_connection: Annotated[
            str | None,
            strawberry.argument(
                description=(
                    "The key of the connection whose carrier is asked: one of the account's own, or one of the "
                    "installation that shares lookups. Without it, no carrier is asked."
                )
            ),
        ] = None,
    ) -> number_checks.NumberCheck:
        """Look up one number."""
        unit = info.context.unit
        if through_connection is None:
            return await number_checks.look_up(unit, phone, country)
        connections = info.context.services.connections
        return await number_checks.ask_carrier(unit, connections, through_connection, phone, country)

"""Deliverability of sending numbers, as the contract shows it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

import strawberry

from app.domain.deliverability import health, history, rates, spam
from app.domain.deliverability.health import HealthState, NumberHealth, ProblemCode
from app.domain.deliverability.history import MAX_DAYS, Bucket
from app.domain.deliverability.rates import DeliveryRate, RateGroup
from app.domain.deliverability.spam import SourceName, SpamSign
from app.graphql.core.context import Info, row_of
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.scalars import BigInt
from app.graphql.numbers import PhoneNumber

describe(
    HealthState,
    "The state of a sending number.",
    {
        "good": "A score of 80 or more.",
        "watch": "A score from 60 to 79.",
        "poor": "A score below 60.",
        "unknown": "Fewer than 30 results in seven days.",
    },
    name="NumberHealthState",
)
describe(
    ProblemCode,
    "A cause for a lower score of a sending number.",
    {
        "low_delivery_rate": "Fewer than nine of ten texts were delivered.",
        "delivery_rate_dropped": "The delivery rate is more than five points below that of the four weeks before.",
        "filtered": "Carriers filtered more than one text of fifty.",
        "opt_outs": "More than one contact of fifty opted out within 24 hours after a text.",
        "unreachable": "More than one phone of ten could not be reached.",
        "sender_refused": "The carrier refused texts for the sender or its account.",
        "volume_jump": "On one day it sent more than three times as many texts as on a usual day before.",
        "reply_rate_dropped": "Less than half as many texts were answered as in the four weeks before.",
        "repeated_text": "More than four of five of the newest texts are the same.",
    },
    name="NumberProblem",
)
describe(
    RateGroup,
    "The grouping of delivery rates.",
    {
        "number": "By sending number.",
        "carrier": "By carrier connection.",
        "region": "By the calling code of the destination.",
        "hour": "By the hour of the day, in UTC.",
        "segments": "By the number of SMS parts.",
    },
    name="DeliveryRateGroup",
)


@strawberry.type(name="DeliveryRate", description="The results of the texts of one group that left in a period.")
class DeliveryRateType:
    """A delivery rate; resolvers return those of the domain."""

    key: str = strawberry.field(description="The group, such as a number or an hour; empty for all texts.")
    sent: BigInt = strawberry.field(description="Number of texts that a carrier took.")
    delivered: BigInt = strawberry.field(description="Number of texts that were delivered.")
    failed: BigInt = strawberry.field(description="Number of texts that the networks failed to deliver.")
    filtered: BigInt = strawberry.field(description="Of the failed: filtered as unwanted.")
    unreachable: BigInt = strawberry.field(description="Of the failed: the phone could not be reached.")
    refused: BigInt = strawberry.field(
        description="Number of texts that the carrier refused for the sender or its account; they count in no rate."
    )
    pending: BigInt = strawberry.field(description="Number of texts without a final result.")
    rate: float | None = strawberry.field(description="The delivered share of the final texts; null without any.")
    is_low_sample: bool = strawberry.field(description="True with fewer than 30 final texts.")

    @strawberry.field(description="The lower bound of the rate, with a confidence of 95 % (Wilson).")
    def lower_bound(self) -> float:
        """Return the lower bound."""
        return row_of(self, DeliveryRate).interval.lower

    @strawberry.field(description="The upper bound of the rate, with a confidence of 95 % (Wilson).")
    def upper_bound(self) -> float:
        """Return the upper bound."""
        return row_of(self, DeliveryRate).interval.upper


@strawberry.type(description="One cause for a lower score of a number.")
class HealthDeduction:
    """A deduction."""

    code: ProblemCode = strawberry.field(description="The cause.")
    points: int = strawberry.field(description="The points that it costs.")
    text: str = strawberry.field(description="The finding, with its figures.")
    fix: str = strawberry.field(description="The advised action.")


@strawberry.type(name="NumberHealth", description="The health of a sending number, by its last seven days.")
class NumberHealthType:
    """The health of a number; resolvers return that of the domain."""

    score: int = strawberry.field(description="0 to 100: 100 without any deduction.")
    state: HealthState = strawberry.field(description="The state.")
    deductions: list[HealthDeduction] = strawberry.field(description="Each cause for a lower score.")
    rate: float | None = strawberry.field(description="The delivery rate of the last seven days; null without results.")
    number: strawberry.Private[Any]

    @strawberry.field(graphql_type=PhoneNumber, description="The number.", directives=guarded("numbers:read"))
    def phone_number(self) -> Any:
        """Return the number."""
        return self.number


describe(
    SpamSign,
    "A sign that carriers or recipients take the texts of a number for spam.",
    {
        "filtered": "Carriers filtered its texts.",
        "opt_outs": "Many recipients opted out within 24 hours after a text.",
        "sender_refused": "The carrier refused the sender or its account.",
        "unanswered": "Hardly any recipient answers.",
        "volume_jump": "On one day it sent more than three times as much as on a usual day before.",
    },
)


describe(
    SourceName,
    "The name of a source of signs of spam.",
    {
        "own_results": "The results of the number itself.",
        "public_registers": "Public registers of numbers that are labelled as spam.",
    },
    name="SpamSourceName",
)


@strawberry.type(description="A sign of spam.")
class SpamFinding:
    """A finding."""

    code: SpamSign = strawberry.field(description="The sign.")
    text: str = strawberry.field(description="The finding, with its figures.")
    fix: str = strawberry.field(description="The advised action.")


@strawberry.type(description="A source of signs of spam.")
class SpamSource:
    """A source."""

    name: SourceName = strawberry.field(description="The name.")
    is_asked: bool = strawberry.field(description="False for public registers: there are none to ask.")
    text: str = strawberry.field(description="The question that was asked, or the reason why none was.")


@strawberry.type(description="The signs of spam of a sending number.")
class SpamCheck:
    """The signs of spam; resolvers return those of the domain."""

    flagged: bool = strawberry.field(description="True if there is a finding.")
    low_sample: bool = strawberry.field(
        description="True with fewer than 30 results in 7 days, too few for a conclusion."
    )
    findings: list[SpamFinding] = strawberry.field(description="Each sign that was found.")
    sources: list[SpamSource] = strawberry.field(description="Sources that were asked, and those that cannot be asked.")


describe(Bucket, "The length of a period.", {"hour": "An hour.", "day": "A day of the time zone."}, name="StatsBucket")


@strawberry.type(name="DeliveryPoint", description="The texts of a period, by the hour in which they left.")
class DeliveryPointType:
    """A period; resolvers return those of the domain."""

    start: datetime = strawberry.field(description="The beginning of the period.")
    sent: int = strawberry.field(description="Texts that left.")
    delivered: int = strawberry.field(description="Those of them that were delivered.")
    failed: int = strawberry.field(description="Those of them that the network did not deliver.")
    replies: int = strawberry.field(description="Replies that arrived in the period.")
    opt_outs: int = strawberry.field(description="Opt-outs that arrived in the period.")


@strawberry.type
class DeliverabilityQuery:
    """Reading the deliverability of numbers."""

    @strawberry.field(
        graphql_type=SpamCheck | None,
        description="The signs of spam of a sending number, by the account's own results: no public register of spam "
        "labels for texts can be asked. Null beside the error not_found.",
        directives=guarded("numbers:read", "not_found"),
    )
    async def check_spam(
        self, info: Info, phone_number_id: Annotated[BigInt, strawberry.argument(description="The number's id.")]
    ) -> spam.SpamCheck:
        """Return the signs of spam of a number."""
        return await spam.check(info.context.unit, phone_number_id)

    @strawberry.field(
        graphql_type=NumberHealthType | None,
        description="The health of a sending number: its score with each deduction; null beside the error not_found.",
        directives=guarded("numbers:read", "not_found"),
    )
    async def check_deliverability(
        self, info: Info, phone_number_id: Annotated[BigInt, strawberry.argument(description="The number's id.")]
    ) -> NumberHealth:
        """Return the health of a number."""
        return await health.check(info.context.unit, phone_number_id)

    @strawberry.field(
        graphql_type=list[DeliveryRateType] | None,
        description=(
            "The delivered share of the texts that left in the last days, the worst lower bound first; at most 1,000 "
            "groups. Failures that the sender or the account caused count in no rate. Null beside the error not_found."
        ),
        directives=guarded("messages:read", "not_found"),
    )
    async def delivery_rates(
        self,
        info: Info,
        days: Annotated[
            int,
            strawberry.argument(
                description="The number of days until now.", directives=[Constraint(minimum=1, maximum=rates.MAX_DAYS)]
            ),
        ] = 30,
        by: Annotated[RateGroup | None, strawberry.argument(description="Null for one rate of all texts.")] = None,
        phone_number_id: Annotated[
            BigInt | None, strawberry.argument(description="Only texts from this number.")
        ] = None,
    ) -> Sequence[DeliveryRate]:
        """Return the rates."""
        return await rates.find_rates(info.context.unit, days, by, phone_number_id)

    @strawberry.field(
        graphql_type=list[DeliveryPointType],
        description="The texts of the last days, today included, by day or hour, the earliest first; periods without "
        f"texts too. At most {MAX_DAYS[Bucket.day]} days, and {MAX_DAYS[Bucket.hour]} by hour.",
        directives=guarded("messages:read"),
    )
    async def delivery_stats(
        self,
        info: Info,
        days: Annotated[
            int,
            strawberry.argument(
                description="The number of days.", directives=[Constraint(minimum=1, maximum=MAX_DAYS[Bucket.day])]
            ),
        ] = history.DEFAULT_DAYS,
        bucket: Annotated[Bucket, strawberry.argument(description="The length of a period.")] = Bucket.day,
        time_zone: Annotated[
            str, strawberry.argument(description="The time zone whose days are meant, such as America/Chicago.")
        ] = "UTC",
    ) -> Sequence[history.DeliveryPoint]:
        """Return the periods."""
        return await history.find_history(info.context.unit, days, bucket, time_zone)

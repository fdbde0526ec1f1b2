"""The health of connections to carriers, as the contract shows it."""

from datetime import datetime

import strawberry

from app.domain.carriers import alerts, health_reports, models
from app.domain.carriers.models import AlertKind, ConnectionResult
from app.graphql.core.context import row_of
from app.graphql.core.enums import describe
from app.graphql.core.scalars import BigInt

describe(
    ConnectionResult,
    "A result of a connection.",
    {
        "accepted": "The carrier accepted a text.",
        "rejected": "The carrier refused a text.",
        "unanswered": "The carrier gave no usable answer to a hand-off.",
        "delivered": "The carrier reported a text as delivered.",
        "undelivered": "The carrier reported a text as failed.",
        "callback": "A callback had a valid signature.",
        "callback_refused": "A callback had no valid signature, and was refused.",
    },
    name="CarrierResult",
)
describe(
    AlertKind,
    "A condition of a connection that needs a person.",
    {
        "failing": "At least half of the hand-offs of the last 10 minutes failed for a reason of the connection.",
        "credentials_refused": "The carrier refuses the credentials.",
        "callbacks_refused": "At least half of the callbacks of the last 10 minutes had no valid signature.",
        "silent": "Texts wait, and the carrier has accepted none for 10 minutes.",
    },
    name="CarrierAlertKind",
)


@strawberry.type(description="The last failure of a connection.")
class CarrierFailure:
    """A failure."""

    at: datetime = strawberry.field(description="The time of the failure.")
    result: ConnectionResult = strawberry.field(description="The result: a failed hand-off or a failed delivery.")
    code: str = strawberry.field(description="The failure code, such as landline; empty for a missing answer.")
    carrier_error: str = strawberry.field(description="The carrier's own code, or the reason for no answer.")


@strawberry.type(description="The count of a result of a connection in the last hour.")
class CarrierResultCount:
    """A count."""

    result: ConnectionResult = strawberry.field(description="The result.")
    code: str = strawberry.field(description="The failure code; empty without a failure.")
    count: BigInt = strawberry.field(description="The number of times.")
    share: float = strawberry.field(description="The share among the answers, the final reports or the callbacks.")


@strawberry.type(description="A condition of a connection that needs a person.")
class CarrierAlert:
    """An alert."""

    kind: AlertKind = strawberry.field(description="The condition.")
    since: datetime = strawberry.field(description="The time at which it was noticed.")

    @strawberry.field(description="The meaning of the condition, and the action to take.")
    def text(self) -> str:
        """Return the text of the kind."""
        return alerts.TEXTS[AlertKind(row_of(self, models.ConnectionAlert).kind)]


@strawberry.type(description="The health of a connection: its results of the last hour, in counts of minutes.")
class CarrierHealth:
    """The health of a connection."""

    last_success_at: datetime | None = strawberry.field(
        description="The last time at which the carrier accepted a text; null when none is known."
    )
    last_failure: CarrierFailure | None = strawberry.field(description="The last failure; null when none is known.")
    last_hour: list[CarrierResultCount] = strawberry.field(
        description="The results of the last hour: answers, final reports, then callbacks; the most frequent first."
    )
    parts_per_second: float = strawberry.field(
        description="SMS parts a second that the carrier accepted, on average in the last full minute."
    )
    peak_parts_per_second: float = strawberry.field(
        description="SMS parts a second in the busiest minute of the last hour."
    )
    skew_seconds: float | None = strawberry.field(
        description="Seconds by which the clock that signed the last callback was ahead; null when it signs no time."
    )
    alerts: list[CarrierAlert] = strawberry.field(description="The conditions that need a person, the oldest first.")


of_connections = health_reports.read
"""The batch query of the field."""

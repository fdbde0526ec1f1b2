"""A send that passed all gates."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from app.domain.messages.eligibility.facts import RequestRow
from app.domain.messages.events import MessageAccepted
from app.domain.messages.requests import Acceptance, SendRequest


@dataclass(slots=True)
class AcceptedSend:
    """A send that passed all gates, to be written in this transaction.

    One that `opens_conversation` is among its first texts, which are written together with it. One that obeys quiet
    hours and caps `leaves_at` a time, and expires at another.
    """

    request: SendRequest
    row: RequestRow
    to: str
    credits: int
    cost: Decimal
    balance_after: int
    claimed_until: datetime | None = None
    wait: float = 0
    leaves_at: datetime | None = None
    deferred_until: datetime | None = None
    expires_at: datetime | None = None
    contact_id: int = 0
    conversation_id: int = 0
    opens_conversation: bool = False

    @property
    def acceptance(self) -> Acceptance:
        """Return the result for the caller."""
        return Acceptance(
            self.row.message_id,
            self.request.parts.segments,
            "pending",
            self.balance_after,
            claimed_until=self.claimed_until,
            wait=self.wait,
            deferred_until=self.deferred_until,
        )

    @property
    def event(self) -> MessageAccepted:
        """Return the event of the acceptance."""
        assert self.row.phone_number
        return MessageAccepted(
            message_id=self.row.message_id,
            provider_message_id="",
            from_number=self.row.phone_number,
            to_number=self.to,
            body=self.request.send.body,
            status="pending",
            segments=self.request.parts.segments,
            cost=float(self.cost),
            contact_id=self.contact_id,
            contact_first_name=self.row.first_name or "",
            contact_last_name=self.row.last_name or "",
        )

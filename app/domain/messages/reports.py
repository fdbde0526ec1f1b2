"""Changes of a message by carriers' reports: the table of legal ones. Final states absorb all later reports.

Nothing is read or written here: `application` locks the messages, and writes the changes.
"""

from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from app.domain.carriers.carrier import Charge, FailureCode, Receipt, ReceiptStatus
from app.domain.kernel.events import Event, timestamp
from app.domain.messages import failures
from app.domain.messages.events import MessageAccepted, MessageDelivered, MessageFailed, MessageSent
from app.domain.messages.models import MessageStatus

UNSETTLED = (MessageStatus.pending, MessageStatus.sent)
FINAL = (ReceiptStatus.delivered, ReceiptStatus.failed)


class HeldMessage(NamedTuple):
    """A locked message with the names of its contact, and the receipt of it that was new; a row for each."""

    id: int
    account_id: int
    contact_id: int
    carrier: str
    from_number: str
    to_number: str
    body: str
    status: str
    segments: int
    credits: int
    cost: Decimal
    provider_message_id: str | None
    carrier_status: str | None
    carrier_error: str | None
    error_code: str | None
    unconfirmed: bool
    sent_at: datetime | None
    delivered_at: datetime | None
    carrier_segments: int | None
    first_name: str
    last_name: str
    reported_id: str | None = None
    raw_status: str | None = None
    reported_error: str | None = None
    part: int | None = None


class ReportedMessage:
    """A message, as it was and as reports leave it; `events` are those that the changes cause, in their order."""

    def __init__(self, row: HeldMessage) -> None:
        self.row = row
        self.status: str = row.status
        self.provider_message_id: str | None = row.provider_message_id
        self.carrier_status: str | None = row.carrier_status
        self.carrier_error: str | None = row.carrier_error
        self.error_code: str | None = row.error_code
        self.unconfirmed: bool = row.unconfirmed
        self.carrier_segments: int | None = row.carrier_segments
        self.charge: Charge | None = None
        self.sent_at: datetime | None = row.sent_at
        self.delivered_at: datetime | None = row.delivered_at
        self.events: list[Event] = []
        self.has_changed = False
        self.is_put_off = False

    @property
    def refund(self) -> int:
        """Return the credits to give back: the price of the message, if the reports made it fail."""
        return self.row.credits if self.has_failed else 0

    @property
    def has_failed(self) -> bool:
        """Tell whether the reports made the message fail."""
        return self.status == MessageStatus.failed and self.row.status != MessageStatus.failed

    @property
    def cost(self) -> Decimal:
        """Return the cost in the account's currency."""
        return Decimal(0) if self.status == MessageStatus.failed else self.row.cost

    @property
    def is_newly_named(self) -> bool:
        """Tell whether a report was the first to say the carrier's id."""
        return self.provider_message_id is not None and self.row.provider_message_id is None

    @property
    def given_id(self) -> tuple[str, str, int]:
        """Return the carrier, its id of the message, and ours."""
        assert self.provider_message_id is not None
        return self.row.carrier, self.provider_message_id, self.row.id

    def apply(self, receipt: Receipt, now: datetime) -> bool:
        """Apply the changes of a report; return False where it contradicts the final state."""
        if self.is_put_off:
            return True
        if self.status not in UNSETTLED:
            self._keep_charge(receipt)
            return receipt.status not in FINAL or receipt.status.value == self.status
        if receipt.status is ReceiptStatus.sent and self.status == MessageStatus.sent:
            self._confirm(receipt)
            return True
        self._keep_words(receipt)
        match receipt.status:
            case ReceiptStatus.sent:
                self.status = MessageStatus.sent
                self._tell_sent(now)
            case ReceiptStatus.delivered:
                self._deliver(now)
            case ReceiptStatus.failed:
                self.fail(receipt.code or FailureCode.carrier_error)
            case ReceiptStatus.pending | ReceiptStatus.unconfirmed:  # pragma: no branch - no status is left
                self.unconfirmed = self.unconfirmed or receipt.status is ReceiptStatus.unconfirmed
        return True

    def fail(self, code: str, carrier_error: str | None = None) -> None:
        """Fail the message: its cost is 0 and it is refunded. Without `carrier_error`, the earlier one remains."""
        self.status, self.error_code, self.unconfirmed = MessageStatus.failed, code, False
        self.carrier_error = carrier_error or self.carrier_error
        description = failures.describe(code)
        self.events.append(MessageFailed(**self._keys(), delivered_at=None, status_description=description))

    def put_off(self, receipt: Receipt) -> None:
        """Let the message wait for another attempt, under another id of the carrier; later reports are of the last."""
        self._keep_words(receipt)
        self.status, self.unconfirmed, self.is_put_off = MessageStatus.pending, False, True
        self.provider_message_id, self.sent_at, self.carrier_error = None, None, self.row.carrier_error
        self.events.append(MessageAccepted(**self._keys()))

    def presume_sent(self, now: datetime) -> None:
        """Mark the message sent without the confirmation of its carrier."""
        self.status, self.unconfirmed = MessageStatus.sent, True
        self._tell_sent(now)

    def _confirm(self, receipt: Receipt) -> None:
        """Confirm a message that was presumed sent, and that no carrier has named yet."""
        if self.provider_message_id is None:
            self._keep_words(receipt)
            self.unconfirmed = False

    def _keep_words(self, receipt: Receipt) -> None:
        self.has_changed = True
        self.provider_message_id = self.provider_message_id or receipt.provider_message_id
        self.carrier_status = receipt.raw_status
        self.carrier_segments = receipt.parts or self.carrier_segments
        self.charge = receipt.charge or self.charge
        self.carrier_error = receipt.carrier_error or self.carrier_error

    def _keep_charge(self, receipt: Receipt) -> None:
        """Keep a charge that is known only after the final state."""
        if receipt.charge or receipt.parts:
            self.has_changed = True
            self.carrier_segments = receipt.parts or self.carrier_segments
            self.charge = receipt.charge or self.charge

    def _deliver(self, now: datetime) -> None:
        self.status, self.delivered_at, self.unconfirmed = MessageStatus.delivered, now, False
        if self.sent_at is None:
            self._tell_sent(now)
        self.events.append(MessageDelivered(**self._keys(), delivered_at=timestamp(now)))

    def _tell_sent(self, now: datetime) -> None:
        """Record that the carrier accepted the message; also for a report that arrived before the carrier's answer."""
        self.sent_at = now
        keys = self._keys()
        keys["status"] = MessageStatus.sent.value
        self.events.append(MessageSent(**keys, sent_at=timestamp(now)))

    def _keys(self) -> dict[str, Any]:
        """Return the keys that all events about outbound messages share."""
        return {
            "message_id": self.row.id,
            "provider_message_id": self.provider_message_id or "",
            "from_number": self.row.from_number,
            "to_number": self.row.to_number,
            "body": self.row.body,
            "status": str(self.status),
            "segments": self.row.segments,
            "cost": float(self.cost),
            "contact_id": self.row.contact_id,
            "contact_first_name": self.row.first_name,
            "contact_last_name": self.row.last_name,
        }

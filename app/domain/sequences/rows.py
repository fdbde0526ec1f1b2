"""Rows that the statements of drip steps return."""

from datetime import datetime
from typing import NamedTuple

from app.domain.contacts.custom_fields import Value
from app.domain.messages.eligibility.limited import Limits, recipient_of
from app.domain.quiet_hours.limits import Recipient


class DueStep(NamedTuple):
    """A due step, its claimed enrollment, and the values that the message and the event contain.

    `created_at` is that of the contact, a value of a placeholder; `fallbacks` are those of the account. `was_sent` is
    true when an earlier claim sent the step. `replies` are the newest inbound bodies since enrollment. `next_delay` is
    in minutes, after `next_days` days and until `next_at`; the last step has none. `limits` say when the next step may
    leave.
    """

    id: int
    account_id: int
    contact_id: int
    sequence_id: int
    sequence_name: str
    position: int
    attempts: int
    next_send_at: datetime
    claimed_until: datetime
    first_name: str
    last_name: str
    email: str
    phone: str
    created_at: datetime
    custom_fields: dict[str, Value]
    company_name: str
    body: str
    fallbacks: dict[str, str]
    next_days: int | None
    next_delay: int | None
    next_at: int | None
    was_sent: bool
    has_opted_out: bool
    replies: list[str]
    newest_inbound_id: int
    limits: Limits

    def recipient_at(self, now: datetime) -> Recipient:
        """Return the facts that decide when a step may leave."""
        return recipient_of(self.phone, self.limits, now)

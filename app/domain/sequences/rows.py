"""Rows that the statements of drip steps return."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from app.domain.contacts.custom_fields import Value
from app.domain.messages.eligibility.limited import Limits, recipient_of
from app.domain.quiet_hours.limits import Recipient
from app.domain.sequences.schedule import week_of


class DueStep(NamedTuple):
    """A due step, its claimed enrollment, and the values that the message contains.

    `created_at` is that of the contact, a value of a placeholder; `fallbacks` are those of the account. `sent_as` is
    the id of the message by which an earlier claim sent the step. `replies` are the newest inbound bodies since
    enrollment. `next_delay` is in minutes, after `next_days` days and until `next_at`; the last step has none. `limits`
    say when a step may leave. `request_id` is that of the enrollment, and that of the events which its texts cause.
    """

    id: int
    account_id: int
    contact_id: int
    sequence_id: int
    sequence_status: str
    exits_on_reply: bool
    skips_refused: bool
    window_start: int | None
    window_end: int | None
    window_days: Sequence[str]
    steps_version: int
    position: int
    key: int
    attempts: int
    next_send_at: datetime
    claimed_until: datetime
    request_id: str | None
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
    sent_as: int | None
    has_opted_out: bool
    has_exit_stage: bool
    has_exit_tag: bool
    has_new_phone: bool
    replies: list[str]
    newest_inbound_id: int
    limits: Limits

    def recipient_at(self, now: datetime) -> Recipient:
        """Return the facts that decide when a step may leave."""
        within = week_of(self.window_start, self.window_end, self.window_days)
        return replace(recipient_of(self.phone, self.limits, now), within=within)

"""Rows that the statements of drip steps return."""

from datetime import datetime
from typing import NamedTuple


class DueStep(NamedTuple):
    """A step that is due, its enrollment as it was claimed, and what the message and the events name.

    `was_sent` tells that the step was sent under an earlier claim. `heard` are the newest inbound bodies since the
    enrollment, `heard_to` is the id of the newest inbound message. `next_delay` is in minutes; the last step has none.
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
    phone: str
    first_name: str
    last_name: str
    email: str
    company_name: str
    body: str
    next_delay: int | None
    was_sent: bool
    has_opted_out: bool
    heard: list[str]
    heard_to: int

"""Requests to the send acceptor, and its answers."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.db.engine import Connection
from app.domain.kernel.sms_parts import Parts
from app.domain.messages.models import Purpose

Check = Callable[[Connection, Sequence[int]], Awaitable[Sequence[int]]]
"""Returns those among ids for which something holds, and locks them so that it does until the transaction ends."""


@dataclass(frozen=True, slots=True)
class Condition:
    """What must still hold as a text is accepted, such as that nobody has ended what it belongs to."""

    check: Check
    id: int


@dataclass(frozen=True, slots=True)
class SendRequest:
    """One send, as it is asked for. `to` may be national where the account's region says which nation.

    `attestation` is the method by which consent is recorded, if any. `contact_id` is whom the text is for, where it is
    for nobody else; `claim` for how long the caller hands it over itself.
    """

    account_id: int
    to: str
    body: str
    parts: Parts
    purpose: Purpose
    attestation: str | None
    actor: str
    request_id: str | None = None
    number_id: int | None = None
    contact_id: int | None = None
    claim: timedelta | None = None
    key: str | None = None
    fingerprint: str = ""
    condition: Condition | None = None


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What the sender is told: the message is kept and paid for, and will be handed to the carrier.

    `credits_remaining` is the balance right after this send's own debit. `claimed_until` says until when the message
    is the caller's to hand over, where it asked for that.
    """

    message_id: int
    segments: int
    status: str
    credits_remaining: int
    replayed: bool = False
    claimed_until: datetime | None = None

"""Requests to the send acceptor and its results."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from app.db.engine import Connection
from app.domain.kernel.sms_parts import Parts
from app.domain.messages.models import Purpose

Check = Callable[[Connection, Sequence[int]], Awaitable[Sequence[int]]]
"""Returns the ids for which a condition holds, and locks their rows until the transaction ends."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that must hold when a message is accepted, such as that its enrollment is active."""

    check: Check
    id: int


@dataclass(frozen=True, slots=True)
class SendRequest:
    """One requested send. `to` may be in national format if the account has a region.

    `attestation` is the method of the consent record, if one is written. With `contact_id`, the phone must be that
    contact's. `claim` is the time for which the caller hands the message over itself.
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
    """The result of an accepted send: the message is stored and debited, and will be handed to the carrier.

    `credits_remaining` is the balance directly after this send's debit. `claimed_until` is the end of the caller's
    claim, if it requested one.
    """

    message_id: int
    segments: int
    status: str
    credits_remaining: int
    replayed: bool = False
    claimed_until: datetime | None = None

"""Requests to the send acceptor and its results.

Classes that each request instantiates are not frozen: `__init__` of a frozen dataclass takes several times as long.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from app.db.engine import Connection
from app.domain.kernel import smart_encoding, sms_parts
from app.domain.kernel.errors import DomainError
from app.domain.kernel.phone import InvalidPhone, LandlinePhone
from app.domain.kernel.sms_parts import Parts
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.models import Attestation, Purpose

AGENT = "agent:"
"""The beginning of the labels of AI agents."""

Check = Callable[[Connection, Sequence[int]], Awaitable[Sequence[int]]]
"""Returns the ids for which a condition holds, and locks their rows until the transaction ends."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that must hold when a message is accepted, such as that its enrollment is active.

    It holds for one message: the next one with it in the same batch is refused. `refusal` is raised where it does not.
    """

    check: Check
    id: int
    refusal: DomainError | None = field(default=None, compare=False)


@dataclass(slots=True)
class Send:
    """A requested send. `consent_attested` must be true except for conversational sends (47 CFR 64.1200).

    Without `from_phone_number_id` it leaves from the number of the contact's latest text, in either direction, or from
    the primary one: always from that one unless it `keeps_number`. Numbers of the sandbox count only where the account
    has no other.

    `attestation` is the method of that certification. With `contact_id`, the phone must be that contact's. With
    `claim`, the caller hands the message over itself, and no worker claims it for that time, unless other processes
    serve its connection or the connection is paused. `Conflict` is raised when `condition` no longer holds.
    `fingerprint` identifies the request of the idempotency key where other fields may change between its repetitions.
    With `is_shown_live`, the acceptance is a live update, at the price of an event. A text that quiet hours or a
    frequency cap put off waits in the queue if it `can_wait`, for a cap only if it also `waits_for_cap`, and is refused
    otherwise. With `send_at`, a time in the future, it is debited now, and leaves then if it passes the gates again.
    The account's smart encoding applies unless the caller `has_encoded` the body; `original_body` is the text as it was
    written where that replaced some of it.
    """

    to: str
    body: str
    consent_attested: bool
    from_phone_number_id: int | None = None
    idempotency_key: str | None = None
    purpose: Purpose = Purpose.transactional
    attestation: Attestation = Attestation.api
    contact_id: int | None = None
    claim: timedelta | None = None
    condition: Condition | None = None
    fingerprint: str | None = None
    keeps_number: bool = True
    is_shown_live: bool = False
    can_wait: bool = True
    waits_for_cap: bool = True
    has_encoded: bool = False
    original_body: str | None = None
    send_at: datetime | None = None

    def __post_init__(self) -> None:
        """Raise `ValueError` for a compliance text: it passes every gate, and the area that sends it writes it."""
        if self.purpose is Purpose.compliance:
            raise ValueError("a compliance text is not requested")


class Phone(NamedTuple):
    """The phone of a recipient in E.164, None where it can get no texts, and the error that refuses it.

    A refused phone in E.164 is refused only until it has texted us.
    """

    e164: str | None
    refusal: InvalidPhone | LandlinePhone | None = None


@dataclass(slots=True)
class SendRequest:
    """A send that is to be decided on.

    `phone` is None for a number in national format, which is read for the region of the account. `parts` are those of
    the first 1600 characters. `fingerprint` is that of the idempotency key.
    """

    send: Send
    actor: Actor
    phone: Phone | None
    parts: Parts
    fingerprint: str
    account_id: int = field(init=False)

    def __post_init__(self) -> None:
        """Keep the account that sends: it is read more than ten times."""
        self.account_id = self.actor.account_id

    @property
    def key(self) -> str | None:
        """Return the idempotency key."""
        return self.send.idempotency_key

    @property
    def attestation(self) -> str | None:
        """Return the method of the consent record to write; None for a reply."""
        return None if self.send.purpose is Purpose.conversational else self.send.attestation

    @property
    def is_of_person(self) -> bool:
        """Return whether it is a reply of a person, or of an integration for one; AI agents reply as themselves."""
        return self.send.is_shown_live and not self.actor.label.startswith(AGENT)

    def encoded(self, *, fold_accents: bool) -> "SendRequest":
        """Return the request with its text in smart encoding, unless the caller has encoded it."""
        written = self.send.body
        if self.send.has_encoded or written.isascii():
            return self
        body = smart_encoding.encode(written, fold_accents=fold_accents)
        if body == written:
            return self
        send = replace(self.send, body=body, original_body=written)
        return replace(self, send=send, parts=sms_parts.count(body[: sms_parts.MAX_LENGTH]))


@dataclass(slots=True)
class Acceptance:
    """The result of an accepted send: the message is stored and debited, and will be handed to the carrier.

    `credits_remaining` is the balance directly after this send's debit. `claimed_until` is the end of the caller's
    claim, if it has one; it must not hand the message over before `wait` seconds have passed. `deferred_until` is
    the time at which quiet hours or a frequency cap let it leave.
    """

    message_id: int
    segments: int
    status: str
    credits_remaining: int
    replayed: bool = False
    claimed_until: datetime | None = None
    wait: float = 0
    deferred_until: datetime | None = None

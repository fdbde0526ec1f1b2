"""The port to carriers: what a provider that brings texts to handsets must be able to do."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Protocol


class FailureCode(enum.StrEnum):
    """Why a message failed, in our words; each carrier maps its own codes onto these."""

    invalid_number = enum.auto()
    landline = enum.auto()
    unreachable = enum.auto()
    blocked = enum.auto()
    filtered = enum.auto()
    opted_out = enum.auto()
    unregistered_sender = enum.auto()
    rate_limited = enum.auto()
    daily_cap = enum.auto()
    expired = enum.auto()
    destination_not_allowed = enum.auto()
    sender_invalid = enum.auto()
    message_rejected = enum.auto()
    quiet_hours_carrier = enum.auto()
    account_problem = enum.auto()
    carrier_error = enum.auto()


@dataclass(frozen=True, slots=True)
class OutboundMessage:
    """One text to hand over. `reference` is our message id; a carrier keeps it and says it again in receipts."""

    reference: int
    from_number: str
    to_number: str
    body: str
    segments: int


@dataclass(frozen=True, slots=True)
class CarriedMessage:
    """A message that a carrier had, by our reference and by the name it gave it, if it gave one."""

    reference: int
    provider_message_id: str | None


@dataclass(frozen=True, slots=True)
class Accepted:
    """The carrier has taken the message and will report on it under `provider_message_id`."""

    provider_message_id: str
    carrier_status: str = "queued"


@dataclass(frozen=True, slots=True)
class Rejected:
    """The carrier has refused the message; `retryable` where it may take it later."""

    code: FailureCode
    carrier_error: str = ""
    retryable: bool = False


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """No answer came: the carrier may or may not have taken the message, so it is asked before any second send."""

    reason: str = ""


Answer = Accepted | Rejected | Ambiguous


class ReceiptStatus(enum.StrEnum):
    """What a receipt says about a message, in our words."""

    pending = enum.auto()
    sent = enum.auto()
    delivered = enum.auto()
    failed = enum.auto()
    unconfirmed = enum.auto()


@dataclass(frozen=True, slots=True)
class Receipt:
    """A carrier's report on one message it took. `raw_status` and `carrier_error` are the carrier's own words."""

    provider_message_id: str
    status: ReceiptStatus
    raw_status: str
    code: FailureCode | None = None
    carrier_error: str = ""
    part: int = 1
    reference: int | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class InboundMessage:
    """A text that a person sent to one of our numbers."""

    provider_message_id: str
    from_number: str
    to_number: str
    body: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class CallbackRequest:
    """A carrier's HTTP request to us, as it came: `url` is the public address, header names are lower case."""

    url: str
    headers: Mapping[str, str]
    body: bytes


class BadSignature(Exception):
    """The callback was not signed by the carrier; it is not read any further."""


class MalformedCallback(Exception):
    """The callback was signed by the carrier, but lacks what it must carry."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a carrier can do. `max_segments` is per message."""

    max_segments: int = 10
    handles_opt_out: bool = False


class Carrier(Protocol):
    """A provider that brings texts to handsets.

    `send` answers within its own time limit and never raises for what a carrier can do to it: no answer
    is `Ambiguous`. `find` looks a message up by our reference and answers `None` only when the carrier
    surely does not have it; it raises `ConnectionError` while the carrier cannot be asked.
    """

    name: ClassVar[str]
    capabilities: ClassVar[Capabilities]

    async def send(self, message: OutboundMessage) -> Answer:
        """Hand one message over."""
        ...

    async def find(self, reference: int) -> Accepted | Rejected | None:
        """Ask whether the carrier has a message of ours, after an answer that never came."""
        ...

    async def forget(self, messages: Sequence[CarriedMessage]) -> None:
        """Delete what is kept of messages; raise `ConnectionError` while that cannot be asked for.

        What is not kept, or cannot be deleted, is passed over.
        """
        ...

    def parse_receipts(self, request: CallbackRequest) -> list[Receipt]:
        """Verify and read a status callback; raise `BadSignature` or `MalformedCallback`."""
        ...

    def parse_inbound(self, request: CallbackRequest) -> list[InboundMessage]:
        """Verify and read an inbound callback; raise `BadSignature` or `MalformedCallback`."""
        ...

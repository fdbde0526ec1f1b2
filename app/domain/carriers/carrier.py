"""Port to carriers, the providers that deliver messages to phones."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Protocol

from app.domain.kernel.phone import LineType


class FailureCode(enum.StrEnum):
    """The cause of a failed message. Each carrier maps its own codes to these."""

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
    """A message to hand off. `reference` is our message id; a carrier stores it and repeats it in receipts."""

    reference: int
    from_number: str
    to_number: str
    body: str
    segments: int


@dataclass(frozen=True, slots=True)
class CarriedMessage:
    """A message that a carrier received: our reference, and the carrier's id if it assigned one."""

    reference: int
    provider_message_id: str | None


@dataclass(frozen=True, slots=True)
class Charge:
    """The amount that a carrier charges for a message, in a currency of ISO 4217 as the carrier writes it."""

    amount: Decimal
    currency: str


@dataclass(frozen=True, slots=True)
class Accepted:
    """The carrier accepted the message and will report on it under `provider_message_id`.

    `parts` is the carrier's count of SMS parts, and `charge` its price; None where it does not say. A carrier that
    reports on each part under an id of its own gives these as `part_ids`, in the order of the parts. One that was asked
    for a message, and answers by our reference, `is_ours`, also without an id or under one that another message has.
    Where `ids_recur`, the carrier gives the id of an older message to a later one.
    """

    provider_message_id: str
    carrier_status: str = "queued"
    parts: int | None = None
    charge: Charge | None = None
    part_ids: tuple[str, ...] = ()
    is_ours: bool = False
    ids_recur: bool = False


class Limited(enum.StrEnum):
    """The sender whose rate a carrier limits (HTTP 429): one number, or all numbers of the connection."""

    number = enum.auto()
    connection = enum.auto()


@dataclass(frozen=True, slots=True)
class Rejected:
    """The carrier refused the message; `retryable` when it may accept it later.

    After `rate_limited`, the texts of `limited` wait for `retry_after`, or without it for a few seconds.
    A carrier that took the message before it failed gives its id as `provider_message_id`. One that was asked for a
    message, and answers without an id, certainly answers about that message.
    """

    code: FailureCode
    carrier_error: str = ""
    retryable: bool = False
    limited: Limited = Limited.number
    retry_after: timedelta | None = None
    provider_message_id: str | None = None


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """No usable response: the carrier may have accepted the message, so it is queried before any second send."""

    reason: str = ""


Answer = Accepted | Rejected | Ambiguous


class ReceiptStatus(enum.StrEnum):
    """The status of a message in a receipt, mapped from the carrier's own."""

    pending = enum.auto()
    sent = enum.auto()
    delivered = enum.auto()
    failed = enum.auto()
    unconfirmed = enum.auto()


@dataclass(frozen=True, slots=True)
class Receipt:
    """A carrier's report on a message it accepted. `raw_status` and `carrier_error` are the carrier's own texts."""

    provider_message_id: str
    status: ReceiptStatus
    raw_status: str
    code: FailureCode | None = None
    carrier_error: str = ""
    part: int = 1
    reference: int | None = None
    at: datetime | None = None
    parts: int | None = None
    charge: Charge | None = None


class Keyword(enum.StrEnum):
    """A keyword of an inbound message that the carrier recognized, acted on and answered itself."""

    stop = enum.auto()
    start = enum.auto()
    help = enum.auto()


@dataclass(frozen=True, slots=True)
class Media:
    """A file of an inbound MMS, as a link to the carrier's copy."""

    url: str
    content_type: str


@dataclass(frozen=True, slots=True)
class InboundMessage:
    """A message received on one of our numbers.

    `answered_keyword` is the keyword that the carrier acted on, so the contact needs no second answer. One that a list
    shows without its files `lacks_media`.
    """

    provider_message_id: str
    from_number: str
    to_number: str
    body: str
    at: datetime | None = None
    media: tuple[Media, ...] = ()
    answered_keyword: Keyword | None = None
    lacks_media: bool = False


@dataclass(frozen=True, slots=True)
class CallbackRequest:
    """A carrier's unmodified HTTP request: `url` is the public address, header names are lower case."""

    url: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class CallbackAnswer:
    """The HTTP response that a carrier expects after a callback was processed."""

    status: int = 204
    content_type: str | None = None
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class CarrierAccount:
    """The account at a carrier that the credentials of a connection belong to, in the carrier's words.

    `facts` are further ones, by their names, such as its status; none of them is secret.
    """

    name: str
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CarrierNumber:
    """A sender that a carrier lists as the connection's: in E.164, a short code, or alphanumeric."""

    number: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class LookedUpNumber:
    """A carrier's statements about a number. `country` is one such as US; None and `unknown` where it says nothing."""

    is_valid: bool
    line_type: LineType = LineType.unknown
    carrier: str | None = None
    country: str | None = None


class LookupUnsupported(Exception):
    """The carrier does not look numbers up."""


class CarrierBusy(ConnectionError):
    """The carrier limits the rate of calls (HTTP 429); `retry_after` is its wait in seconds, None where not stated."""

    def __init__(self, retry_after: float | None = None) -> None:
        super().__init__("HTTP 429")
        self.retry_after = retry_after


class ConnectionRefused(Exception):
    """The carrier refuses the credentials or the settings of a connection. The text says which, and names no secret."""


class BadSignature(Exception):
    """The carrier's signature of a callback is missing or wrong; the body is not parsed."""


class StaleSignature(BadSignature):
    """The carrier has signed a callback, but at a time that is too far from ours: an old one, or a wrong clock."""


class MalformedCallback(Exception):
    """The carrier signed the callback, but a required field is missing or invalid."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The capabilities of a carrier. `max_segments` is per message, `parts_per_second` of all SMS parts together.

    Numbers can be imported where it `lists_numbers`. Texts may leave from short codes where it `takes_short_codes`, and
    from names such as "ACME" where it `takes_alphanumeric`. Where it `shares_lookups`, every account may look numbers
    up through a connection of the installation. `find` may miss a message until `lists_within` after its call.
    `query_status` answers where it `answers_status_queries`, `list_inbound` where it `lists_inbound`.
    """

    max_segments: int = 10
    parts_per_second: float | None = None
    handles_opt_out: bool = False
    lists_numbers: bool = False
    takes_short_codes: bool = False
    takes_alphanumeric: bool = False
    shares_lookups: bool = False
    lists_within: timedelta = timedelta(0)
    answers_status_queries: bool = False
    lists_inbound: bool = False


class Carrier(Protocol):
    """An open connection to a provider that delivers messages to phones.

    `key` names the connection in paths and in the columns `carrier`. `send` returns within its own time limit and never
    raises for an error of the carrier: a missing response is `Ambiguous`.
    """

    key: str
    capabilities: Capabilities
    callback_answer: CallbackAnswer

    async def send(self, message: OutboundMessage) -> Answer:
        """Hand one message over."""
        ...

    async def find(self, message: OutboundMessage, since: datetime) -> Sequence[Accepted | Rejected]:
        """Look up a message that was handed off at `since` or later, and whose `send` got no response.

        Return every message that may be this one: a carrier that does not store our reference cannot tell apart two
        messages with the same text between the same numbers. Return none only when the carrier certainly does not have
        the message, once `capabilities.lists_within` has passed since the call. Raise `ConnectionError` when the
        carrier is unreachable, or may not list the message yet after that.
        """
        ...

    async def query_status(self, message: CarriedMessage) -> Receipt | None:
        """Return the present status of an accepted message, as a callback would report it.

        Return None where the carrier does not have the message any more, or its answer is not understood. Raise
        `CarrierBusy`, or `ConnectionError` when the carrier is unreachable, or refuses the credentials or the account.
        Only for a carrier that `answers_status_queries`.
        """
        ...

    async def list_inbound(self, number: str, since: datetime) -> Sequence[InboundMessage]:
        """Return the messages that a number has received since a time, each with its time.

        Raise `CarrierBusy`, or `ConnectionError` when the carrier is unreachable, refuses the credentials or the
        account, or has too many. Only for a carrier that `lists_inbound`.
        """
        ...

    async def find_media(self, message: InboundMessage) -> InboundMessage:
        """Return a listed message that `lacks_media` with the links to its files; raise as `list_inbound` does."""
        ...

    async def delete_copies(self, messages: Sequence[CarriedMessage]) -> None:
        """Delete the carrier's copies of messages; raise `ConnectionError` to be asked again later.

        That is when the carrier is unreachable, or refuses the credentials or the account. Messages that the carrier
        does not have, or cannot delete, are skipped.
        """
        ...

    async def check(self) -> CarrierAccount:
        """Ask the carrier whether it accepts the credentials and the settings.

        Raise `ConnectionRefused` when it does not, and `ConnectionError` when it is unreachable.
        """
        ...

    async def list_numbers(self) -> Sequence[CarrierNumber]:
        """Return the senders that the carrier has for the connection; raise as `check` does."""
        ...

    async def lookup(self, phone: str) -> LookedUpNumber:
        """Ask for the line type, the carrier and the country of a number in E.164; carriers charge for it.

        Raise `LookupUnsupported`, `CarrierBusy`, or as `check` does.
        """
        ...

    def find_signing_time(self, request: CallbackRequest) -> datetime | None:
        """Return the time of the carrier's clock that a signed callback states; None where its signature has none."""
        ...

    def parse_receipts(self, request: CallbackRequest) -> list[Receipt]:
        """Verify and read a status callback; raise `BadSignature` or `MalformedCallback`."""
        ...

    def parse_inbound(self, request: CallbackRequest) -> list[InboundMessage]:
        """Verify and read an inbound callback; raise `BadSignature` or `MalformedCallback`."""
        ...

    async def close(self) -> None:
        """Close the resources of the connection."""
        ...

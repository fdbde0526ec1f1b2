"""The carrier of a connection that cannot be opened: its texts wait, its callbacks are refused."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from app.domain.carriers.carrier import (
    Accepted,
    Answer,
    BadSignature,
    CallbackAnswer,
    CallbackRequest,
    Capabilities,
    CarriedMessage,
    CarrierAccount,
    CarrierNumber,
    ConnectionRefused,
    FailureCode,
    InboundMessage,
    LookedUpNumber,
    OutboundMessage,
    Receipt,
    Rejected,
)

REASON = "the connection cannot be opened: its kind is unknown to this process, or its values do not fit the kind"


@dataclass(slots=True)
class UnusableCarrier:
    """Stands for a carrier that no call can be made to.

    Its texts and numbers are noted, so that it is asked for what it lost once it can be opened.
    """

    key: str
    capabilities: Capabilities = field(
        default_factory=lambda: Capabilities(answers_status_queries=True, lists_inbound=True)
    )
    callback_answer: CallbackAnswer = field(default_factory=CallbackAnswer)

    async def send(self, message: OutboundMessage) -> Answer:
        """Refuse a message for now."""
        return Rejected(FailureCode.account_problem, REASON, retryable=True)

    async def find(self, message: OutboundMessage, since: datetime) -> Sequence[Accepted | Rejected]:
        """Raise `ConnectionError`."""
        raise ConnectionError(REASON)

    async def query_status(self, message: CarriedMessage) -> Receipt | None:
        """Raise `ConnectionError`."""
        raise ConnectionError(REASON)

    async def list_inbound(self, number: str, since: datetime) -> Sequence[InboundMessage]:
        """Raise `ConnectionError`."""
        raise ConnectionError(REASON)

    async def find_media(self, message: InboundMessage) -> InboundMessage:
        """Raise `ConnectionError`."""
        raise ConnectionError(REASON)

    async def delete_copies(self, messages: Sequence[CarriedMessage]) -> None:
        """Raise `ConnectionError`."""
        raise ConnectionError(REASON)

    async def check(self) -> CarrierAccount:
        """Raise `ConnectionRefused`."""
        raise ConnectionRefused(REASON)

    async def list_numbers(self) -> Sequence[CarrierNumber]:
        """Raise `ConnectionRefused`."""
        raise ConnectionRefused(REASON)

    async def lookup(self, phone: str) -> LookedUpNumber:
        """Raise `ConnectionRefused`."""
        raise ConnectionRefused(REASON)

    def find_signing_time(self, request: CallbackRequest) -> datetime | None:
        """Return None."""
        return None

    def parse_receipts(self, request: CallbackRequest) -> list[Receipt]:
        """Raise `BadSignature`."""
        raise BadSignature(REASON)

    def parse_inbound(self, request: CallbackRequest) -> list[InboundMessage]:
        """Raise `BadSignature`."""
        raise BadSignature(REASON)

    async def close(self) -> None:
        """Close nothing."""

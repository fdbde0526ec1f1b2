"""Events of messages."""

from dataclasses import dataclass

from app.domain.accounts.scopes import Scope
from app.domain.contacts.models import Contact
from app.domain.kernel.events import Event, UpdateKind, event, timestamp
from app.domain.messages.models import Message

AT = "2026-11-21T09:30:00.000Z"
SENT = {
    "message_id": 70133,
    "provider_message_id": "sbx_70133",
    "from_number": "+15002000001",
    "to_number": "+12025550143",
    "body": "Your table for two is booked for 7 pm.",
    "segments": 1,
    "cost": 0.01,
    "contact_id": 4821,
    "contact_first_name": "Ann",
    "contact_last_name": "Lee",
}


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class NewMessage(Event):
    """A message was received."""

    name = "new_message"
    topic = "message.inbound"
    scope = Scope.messages_read
    live_kind = UpdateKind.new_message
    example = {
        "id": 70134,
        "direction": "inbound",
        "from_number": "+12025550143",
        "to_number": "+15002000001",
        "body": "Do you have a table for two tonight?",
        "status": "received",
        "contact_id": 4821,
        "contact_first_name": "Ann",
        "contact_last_name": "Lee",
        "contact_phone": "+12025550143",
        "contact_email": "ann@example.com",
        "conversation_id": 912,
        "segments": 1,
        "sent_at": AT,
    }

    id: int
    direction: str
    from_number: str
    to_number: str
    body: str
    status: str
    contact_id: int
    contact_first_name: str
    contact_last_name: str
    contact_phone: str
    contact_email: str
    conversation_id: int
    segments: int
    sent_at: str

    @classmethod
    def of(cls, message: Message, contact: Contact) -> "NewMessage":
        """Return the event for a received message."""
        assert message.sent_at is not None
        return cls(
            id=message.id,
            direction=message.direction,
            from_number=message.from_number,
            to_number=message.to_number,
            body=message.body,
            status=message.status,
            contact_id=contact.id,
            contact_first_name=contact.first_name,
            contact_last_name=contact.last_name,
            contact_phone=contact.phone,
            contact_email=contact.email,
            conversation_id=message.conversation_id,
            segments=message.segments,
            sent_at=timestamp(message.sent_at),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundEvent(Event):
    """An event about one outbound message. `cost` is in the account's currency."""

    scope = Scope.messages_read
    live_kind = UpdateKind.message_status

    message_id: int
    provider_message_id: str
    from_number: str
    to_number: str
    body: str
    status: str
    segments: int
    cost: float
    contact_id: int
    contact_first_name: str
    contact_last_name: str


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class MessageAccepted(OutboundEvent):
    """A text of a conversation was accepted: a reply of a person, or an answer to STOP, START or HELP.

    Or a text that had left waits again, because its carrier refused it for the day or for the hour.
    It is a live update only, not offered to subscribers. Other texts are shown when they have left.
    """

    name = "message_accepted"
    subscribable = False
    example = {**SENT, "provider_message_id": "", "status": "pending"}

    @classmethod
    def of(cls, message: Message, contact: Contact) -> "MessageAccepted":
        """Return the event for a message that no send asked for."""
        return cls(
            message_id=message.id,
            provider_message_id="",
            from_number=message.from_number,
            to_number=message.to_number,
            body=message.body,
            status=message.status,
            segments=message.segments,
            cost=float(message.cost),
            contact_id=contact.id,
            contact_first_name=contact.first_name,
            contact_last_name=contact.last_name,
        )


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class MessageSent(OutboundEvent):
    """The carrier accepted a message."""

    name = "message_sent"
    topic = "message.sent"
    subscribable = False
    example = {**SENT, "status": "sent", "sent_at": AT}

    sent_at: str


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDelivered(OutboundEvent):
    """The carrier reported that a message was delivered."""

    name = "message_delivered"
    topic = "message.delivered"
    example = {**SENT, "status": "delivered", "delivered_at": AT}

    delivered_at: str


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class MessageFailed(OutboundEvent):
    """A message failed; its credits were refunded. `status_description` gives the reason and what to do."""

    name = "message_failed"
    topic = "message.failed"
    example = {
        **SENT,
        "status": "failed",
        "cost": 0.0,
        "delivered_at": None,
        "status_description": "The number is not in service. Check it with the contact.",
    }

    delivered_at: None
    status_description: str


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class SendBlocked(Event):
    """A send was refused; nothing was debited. Recorded for the audit trail, not offered to subscribers.

    `to_number` is empty when no contact has that phone, because an erasure could not find it.
    """

    name = "send_blocked"
    subscribable = False
    scope = Scope.messages_read
    live_kind = None
    example = {"to_number": "+12025550143", "error_code": "contact_opted_out", "actor": "key:3"}

    to_number: str
    error_code: str
    actor: str

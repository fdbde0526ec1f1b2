"""Events of conversations."""

from dataclasses import dataclass

from app.domain.accounts.scopes import Scope
from app.domain.conversations.models import Conversation
from app.domain.kernel.events import Event, UpdateKind, event


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class NewConversation(Event):
    """The first message to or from a contact opened a conversation."""

    name = "new_conversation"
    scope = Scope.messages_read
    live_kind = UpdateKind.conversation_changed
    example = {
        "conversation_id": 912,
        "contact_id": 4821,
        "first_name": "Ann",
        "last_name": "Lee",
        "phone": "+12025550143",
        "email": "ann@example.com",
        "first_message": "Do you have a table for two tonight?",
        "from_number": "+12025550143",
        "to_number": "+15002000001",
        "started_at": "2026-11-21T09:30:00.000Z",
    }

    conversation_id: int
    contact_id: int
    first_name: str
    last_name: str
    phone: str
    email: str
    first_message: str
    from_number: str
    to_number: str
    started_at: str


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationChanged(Event):
    """A conversation was closed, reopened, read, assigned or reviewed. A live update, not offered to webhooks."""

    name = "conversation_changed"
    subscribable = False
    scope = Scope.messages_read
    live_kind = UpdateKind.conversation_changed
    example = {
        "conversation_id": 912,
        "contact_id": 4821,
        "status": "closed",
        "assignee_id": 7,
        "unread_count": 0,
        "possible_opt_out": False,
    }

    conversation_id: int
    contact_id: int
    status: str
    assignee_id: int | None
    unread_count: int
    possible_opt_out: bool

    @classmethod
    def of(cls, conversation: Conversation) -> "ConversationChanged":
        """Return the event with the present state of a conversation."""
        return cls(
            conversation_id=conversation.id,
            contact_id=conversation.contact_id,
            status=conversation.status,
            assignee_id=conversation.assignee_id,
            unread_count=conversation.unread_count,
            possible_opt_out=conversation.possible_opt_out,
        )

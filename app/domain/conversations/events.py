"""Events of conversations."""

from dataclasses import dataclass, replace

from app.domain.accounts.scopes import Scope
from app.domain.conversations.models import Conversation
from app.domain.kernel.events import Event, UpdateKind, event, timestamp
from app.domain.kernel.unit_of_work import UnitOfWork


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
    """A conversation was closed, reopened, snoozed, read, assigned or reviewed, or its AI state changed.

    It is a live update, not offered to webhooks. `actor` is the label of the actor that changed it; `changed` names the
    fields that differ from before.
    """

    name = "conversation_changed"
    subscribable = False
    scope = Scope.messages_read
    live_kind = UpdateKind.conversation_changed
    example = {
        "conversation_id": 912,
        "contact_id": 4821,
        "status": "closed",
        "snoozed_until": None,
        "assignee_id": 7,
        "unread_count": 0,
        "possible_opt_out": False,
        "ai_state": "none",
        "actor": "user:7",
        "changed": ["status"],
    }

    conversation_id: int
    contact_id: int
    status: str
    snoozed_until: str | None
    assignee_id: int | None
    unread_count: int
    possible_opt_out: bool
    ai_state: str
    actor: str
    changed: list[str]

    @classmethod
    def of(cls, unit: UnitOfWork, conversation: Conversation) -> "ConversationChanged":
        """Return the event with the present state of a conversation, and the unit's actor."""
        return cls(
            conversation_id=conversation.id,
            contact_id=conversation.contact_id,
            status=conversation.status,
            snoozed_until=timestamp(conversation.snoozed_until) if conversation.snoozed_until else None,
            assignee_id=conversation.assignee_id,
            unread_count=conversation.unread_count,
            possible_opt_out=conversation.possible_opt_out,
            ai_state=conversation.ai_state,
            actor=unit.actor.label,
            changed=[],
        )

    def since(self, before: "ConversationChanged") -> "ConversationChanged":
        """Return the event with the names of the fields that differ from an earlier state."""
        names = [name for name in self.keys if getattr(self, name) != getattr(before, name)]
        return replace(self, changed=[name for name in names if name not in ("actor", "changed")])

    @property
    def shared(self) -> tuple[str, str | None, int | None]:
        """Return the values that conflict when two users change them: status, time of the snooze, assignee."""
        return self.status, self.snoozed_until, self.assignee_id


NOTE = {"note_id": 70140, "conversation_id": 912, "contact_id": 4821, "actor": "user:7"}


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class NoteAdded(Event):
    """An internal note was added. A live update without its text, not offered to webhooks."""

    name = "note_added"
    subscribable = False
    scope = Scope.conversations_read
    live_kind = UpdateKind.note_added
    example = NOTE

    note_id: int
    conversation_id: int
    contact_id: int
    actor: str


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class NoteChanged(NoteAdded):
    """An internal note was edited or deleted. A live update without its text, not offered to webhooks."""

    name = "note_changed"

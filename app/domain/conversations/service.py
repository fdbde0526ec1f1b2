"""Open, assign and close conversations, and mark them as read."""

from typing import NamedTuple, TypedDict

from sqlalchemy import select

from app.domain.accounts.models import User
from app.domain.contacts.models import Contact
from app.domain.conversations import queries
from app.domain.conversations.events import ConversationChanged, NewConversation
from app.domain.conversations.models import Conversation, ConversationStatus
from app.domain.events import outbox
from app.domain.kernel.errors import NotFound
from app.domain.kernel.events import timestamp
from app.domain.kernel.unit_of_work import UnitOfWork


class ConversationFields(TypedDict, total=False):
    """The fields that a caller may set; omitted fields keep their values."""

    status: ConversationStatus
    assignee_id: int | None


class Reading(NamedTuple):
    """The id of the last message that a user has seen, and the number of inbound messages after it."""

    read_up_to: int
    unread_count: int


class FirstMessage(TypedDict):
    """The message that opens a conversation."""

    first_message: str
    from_number: str
    to_number: str


async def find_or_open(unit: UnitOfWork, contact: Contact, first: FirstMessage) -> Conversation:
    """Return the conversation with a contact, locked; open it if it does not exist."""
    conversation = await queries.find_by_contact(unit, contact.id, lock=True)
    if conversation is not None:
        return conversation
    now = unit.clock.now()
    conversation = Conversation(
        account_id=unit.actor.account_id, contact_id=contact.id, last_message_at=now, created_at=now
    )
    await unit.save(conversation)
    outbox.record(unit, opened(conversation.id, contact, first, timestamp(now)), contact.id)
    return conversation


def opened(id: int, contact: Contact, first: FirstMessage, started_at: str) -> NewConversation:
    """Return the event of a new conversation."""
    return NewConversation(
        conversation_id=id,
        contact_id=contact.id,
        first_name=contact.first_name,
        last_name=contact.last_name,
        phone=contact.phone,
        email=contact.email,
        started_at=started_at,
        **first,
    )


async def update(unit: UnitOfWork, id: int, fields: ConversationFields, reading: Reading | None = None) -> Conversation:
    """Close or reopen a conversation, mark it as read, and assign it to a user or unassign it (null)."""
    conversation = await queries.get(unit, id, lock=True)
    before = ConversationChanged.of(conversation)
    if status := fields.get("status"):
        conversation.status = status
    if reading and reading.read_up_to > (conversation.read_up_to or 0):
        conversation.read_up_to, conversation.unread_count = reading
    if "assignee_id" in fields:
        conversation.assignee_id = await _assignee(unit, fields["assignee_id"])
    await save(unit, conversation, before)
    return conversation


async def save(unit: UnitOfWork, conversation: Conversation, before: ConversationChanged) -> None:
    """Save a conversation, and record an event if it differs from `before`."""
    await unit.save(conversation)
    after = ConversationChanged.of(conversation)
    if after != before:
        outbox.record(unit, after, conversation.contact_id)


async def _assignee(unit: UnitOfWork, id: int | None) -> int | None:
    if id is None:
        return None
    found = await unit.one(select(User.id).where(User.account_id == unit.actor.account_id, User.id == id))
    if found is None:
        raise NotFound(kind="user", id=id)
    return found

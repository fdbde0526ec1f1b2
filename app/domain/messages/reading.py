"""Mark the messages of a conversation as read or unread."""

from sqlalchemy import func, select

from app.domain.conversations import queries as conversations
from app.domain.conversations import service
from app.domain.conversations.models import Conversation
from app.domain.conversations.service import ConversationFields, Reading
from app.domain.kernel.errors import InvalidInput, NotFound
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import queries
from app.domain.messages.models import Direction, Message


class ThreadFields(ConversationFields, total=False):
    """The fields that a caller may set.

    `read_up_to` is the id of the last message that the user saw; `unread` makes the latest inbound message unread.
    """

    read_up_to: int
    unread: bool


async def update(unit: UnitOfWork, id: int, fields: ThreadFields) -> Conversation:
    """Update a conversation, and mark its messages as read or its latest as unread; raise `NotFound`."""
    if not fields.keys() & {"read_up_to", "unread"}:
        return await service.update(unit, id, fields)
    conversation = await conversations.get(unit, id, lock=True)
    if fields.get("unread"):
        if "read_up_to" in fields:
            raise InvalidInput(reason="unread must not be given together with read_up_to.", field="unread")
        return await service.update(unit, id, fields, await _unread(unit, conversation))
    return await service.update(unit, id, fields, await _read(unit, conversation, fields))


async def _read(unit: UnitOfWork, conversation: Conversation, fields: ThreadFields) -> Reading | None:
    """Return the reading up to a message; None where the conversation was read further, or to no message."""
    if "read_up_to" not in fields:
        return None
    seen = await queries.find(unit, fields["read_up_to"])
    if seen is None or seen.conversation_id != conversation.id:
        raise NotFound(kind="message", id=fields["read_up_to"])
    if seen.id <= (conversation.read_up_to or 0):
        return None
    return Reading(seen.id, await count_after(unit, conversation, seen.id))


async def _unread(unit: UnitOfWork, conversation: Conversation) -> Reading | None:
    """Return the reading before the latest inbound message; None where it is unread, or there is none."""
    latest = await queries.find_last_inbound(unit, conversation.id)
    if latest is None or conversation.unread_count:
        return None
    return Reading(latest.id - 1, 1)


async def count_after(unit: UnitOfWork, conversation: Conversation, id: int) -> int:
    """Return the number of inbound messages of a conversation after an id."""
    same = (Message.account_id == unit.actor.account_id, Message.conversation_id == conversation.id)
    later = (Message.id > id, Message.direction == Direction.inbound)
    return await unit.one(select(func.count()).select_from(Message).where(*same, *later)) or 0

"""Mark the messages of a conversation as read."""

from sqlalchemy import func, select

from app.domain.conversations import queries as conversations
from app.domain.conversations import service
from app.domain.conversations.models import Conversation
from app.domain.conversations.service import ConversationFields, Reading
from app.domain.kernel.errors import NotFound
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import queries
from app.domain.messages.models import Direction, Message


class ThreadFields(ConversationFields, total=False):
    """The fields that a caller may set; `read_up_to` is the id of the last message that the user saw."""

    read_up_to: int


async def update(unit: UnitOfWork, id: int, fields: ThreadFields) -> Conversation:
    """Update a conversation and mark its messages up to `read_up_to` as read; raise `NotFound`."""
    if "read_up_to" not in fields:
        return await service.update(unit, id, fields)
    await conversations.get(unit, id, lock=True)
    seen = await queries.find(unit, fields["read_up_to"])
    if seen is None or seen.conversation_id != id:
        raise NotFound(kind="message", id=fields["read_up_to"])
    return await service.update(unit, id, fields, Reading(seen.id, await _count_after(unit, seen)))


async def _count_after(unit: UnitOfWork, seen: Message) -> int:
    same = (Message.account_id == unit.actor.account_id, Message.conversation_id == seen.conversation_id)
    later = (Message.id > seen.id, Message.direction == Direction.inbound)
    return await unit.one(select(func.count()).select_from(Message).where(*same, *later)) or 0

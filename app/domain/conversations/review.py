"""Deciding on replies that may have been opt-outs."""

from app.domain.contacts import consent
from app.domain.conversations import queries as conversations
from app.domain.conversations import service
from app.domain.conversations.events import ConversationChanged
from app.domain.conversations.models import Conversation
from app.domain.kernel.unit import Unit


async def decide(unit: Unit, conversation_id: int, *, opted_out: bool) -> Conversation:
    """Say whether an unclear reply was an opt-out, and let texts go on or stop for good."""
    contact_id = (await conversations.get(unit, conversation_id)).contact_id
    await consent.release_hold(unit, contact_id, opted_out=opted_out)
    conversation = await conversations.get(unit, conversation_id, lock=True)
    before = ConversationChanged.of(conversation)
    conversation.possible_opt_out = False
    await service.save(unit, conversation, before)
    return conversation


async def expire(unit: Unit) -> int:
    """Turn replies that nobody decided on in time into opt-outs; return how many. Runs as the account it belongs to."""
    expired = await consent.expire_holds(unit)
    for contact_id in expired:
        conversation = await conversations.find_by_contact(unit, contact_id, lock=True)
        if conversation is not None:
            before = ConversationChanged.of(conversation)
            conversation.possible_opt_out = False
            await service.save(unit, conversation, before)
    return len(expired)

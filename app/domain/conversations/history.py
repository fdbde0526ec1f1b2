"""Record the changes of conversations: by an event, a new version, and entries in the thread."""

from dataclasses import replace

from app.domain.conversations.events import ConversationChanged
from app.domain.conversations.models import Conversation, ConversationEntry, ConversationStatus, EntryKind
from app.domain.events import outbox
from app.domain.kernel.unit_of_work import UnitOfWork

KINDS = {
    ConversationStatus.open: EntryKind.reopened,
    ConversationStatus.closed: EntryKind.closed,
    ConversationStatus.snoozed: EntryKind.snoozed,
}
"""The entry of each status."""


def record_change(unit: UnitOfWork, conversation: Conversation, before: ConversationChanged) -> None:
    """Record a change since `before`: the event and the entries, and a new version if other users see the change.

    The conversation is in lists from now on, also if it has promotional texts only.
    """
    after = ConversationChanged.of(unit, conversation)
    if after.shared != before.shared:
        conversation.version += 1
    if after == before:
        return
    conversation.last_message_at = conversation.shown_at
    outbox.record(unit, after.since(before), conversation.contact_id)
    if (after.status, after.snoozed_until) != (before.status, before.snoozed_until):
        _add(unit, conversation, KINDS[ConversationStatus(conversation.status)])
    if after.assignee_id != before.assignee_id:
        _add(unit, conversation, EntryKind.unassigned if after.assignee_id is None else EntryKind.assigned)
    if after.ai_state != before.ai_state:
        _add(unit, conversation, EntryKind.ai_state)


def record_reopening(unit: UnitOfWork, conversation: Conversation) -> None:
    """Record that a text of the contact has reopened a conversation."""
    event = replace(ConversationChanged.of(unit, conversation), changed=["status"])
    outbox.record(unit, event, conversation.contact_id)
    _add(unit, conversation, EntryKind.reopened)


def _add(unit: UnitOfWork, conversation: Conversation, kind: EntryKind) -> None:
    entry = ConversationEntry(
        account_id=unit.actor.account_id,
        conversation_id=conversation.id,
        kind=kind,
        actor=unit.actor.label,
        snoozed_until=conversation.snoozed_until if kind is EntryKind.snoozed else None,
        assignee_id=conversation.assignee_id if kind is EntryKind.assigned else None,
        ai_state=conversation.ai_state if kind is EntryKind.ai_state else None,
        created_at=unit.clock.now(),
    )
    unit.add(entry)

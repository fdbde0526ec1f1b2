"""Moves the records of a contact to another one. The caller holds the locks of both contacts and of the account."""

from datetime import datetime
from typing import Any

from sqlalchemy import and_, func, select, update
from sqlalchemy.orm import aliased

from app.domain.agents.events import AgentState
from app.domain.agents.models import AgentRun
from app.domain.agents.models import RunStatus as AgentRunStatus
from app.domain.automations.models import AutomationRun, RunStatus
from app.domain.campaigns import erasure as campaigns
from app.domain.campaigns.models import Recipient
from app.domain.contacts.models import Contact
from app.domain.conversations import queries as conversations
from app.domain.conversations import service
from app.domain.conversations.events import ConversationChanged
from app.domain.conversations.models import UNLISTED, AiState, Conversation, ConversationEntry
from app.domain.crm.models import CrmPush
from app.domain.events import outbox
from app.domain.events.models import EventRow
from app.domain.integrations.models import Booking, IntegrationEvent
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import queries as messages
from app.domain.messages import reading
from app.domain.messages.models import Message
from app.domain.notices.models import Notice, NoticeKind
from app.domain.sequences.models import Enrollment, EnrollmentStatus
from app.domain.webhooks import erasure as webhooks

UNREAD: dict[str, Any] = {"synchronize_session": False}
"""The unit does not read the rows that these statements change."""

AI_STATES = (AiState.none, AiState.active, AiState.paused, AiState.handed_over)
"""The states of AI agents in conversations; of two that are joined, the later one holds."""

MERGED = "merged"
BY_ID = (IntegrationEvent, Booking, EventRow, Recipient, Enrollment)


async def end_work(unit: UnitOfWork, other: Contact) -> None:
    """End work that would text the phone of a contact, or would text another phone for it: consent is of a phone."""
    now = unit.clock.now()
    ended: dict[str, Any] = {"ended_at": now, "claimed_until": None}
    steps = update(Enrollment).where(Enrollment.contact_id == other.id, Enrollment.status == EnrollmentStatus.active)
    exited = {"status": EnrollmentStatus.exited, "exit_reason": MERGED, "next_send_at": None}
    await unit.execute(steps.values(exited | ended).execution_options(**UNREAD))
    runs = update(AutomationRun).where(AutomationRun.contact_id == other.id, AutomationRun.due_at.is_not(None))
    canceled = {"status": RunStatus.canceled, "reason": MERGED, "due_at": None}
    await unit.execute(runs.values(canceled | ended).execution_options(**UNREAD))
    await campaigns.end_unsent(unit, other.id)


async def move(unit: UnitOfWork, other: Contact, into: Contact) -> None:
    """Give the texts, the conversation and the history of one contact to another."""
    await _move_conversation(unit, other, into)
    await _move_notices(unit, other, into)
    texts = update(CrmPush).where(CrmPush.contact_id == other.id, CrmPush.message_id.is_not(None))
    await unit.execute(texts.values(contact_id=into.id).execution_options(**UNREAD))
    await webhooks.move(unit, other.id, into.id)  # by the events, which move next
    for table in BY_ID:
        own = update(table).where(table.account_id == unit.actor.account_id, table.contact_id == other.id)
        await unit.execute(own.values(contact_id=into.id).execution_options(**UNREAD))
    twin = aliased(AutomationRun)
    same = select(twin.id).where(
        twin.contact_id == into.id,
        twin.automation_id == AutomationRun.automation_id,
        twin.key == AutomationRun.key,
    )
    runs = update(AutomationRun).where(AutomationRun.contact_id == other.id, ~same.exists())
    await unit.execute(runs.values(contact_id=into.id).execution_options(**UNREAD))


async def _move_conversation(unit: UnitOfWork, other: Contact, into: Contact) -> None:
    source = await conversations.find_by_contact(unit, other.id, lock=True)
    if source is None:
        return
    target = await conversations.find_by_contact(unit, into.id, lock=True)
    if target is None:
        source.contact_id = into.id
        await unit.save(source)
    unread = await _find_first_unread(unit, source, target) if target else None
    place = {"contact_id": into.id, "conversation_id": (target or source).id}
    texts = update(Message).where(Message.account_id == unit.actor.account_id, Message.contact_id == other.id)
    await unit.execute(texts.values(place).execution_options(**UNREAD))
    agent_runs = update(AgentRun).where(AgentRun.contact_id == other.id)
    if target is not None:
        await _leave_texts(unit, other, into)
        agent_runs = agent_runs.where(AgentRun.status == AgentRunStatus.done)
    await unit.execute(agent_runs.values(place).execution_options(**UNREAD))
    if target is not None:
        entries = update(ConversationEntry).where(ConversationEntry.conversation_id == source.id)
        await unit.execute(entries.values(conversation_id=target.id).execution_options(**UNREAD))
        await _join(unit, source, target, unread)


async def _leave_texts(unit: UnitOfWork, other: Contact, into: Contact) -> None:
    """Tell people of the texts that agents were to answer by runs that end with a contact, except of noticed ones.

    The events name no text: a notice of a later text of the contact that remains would count as one of it.
    """
    own = AgentRun.account_id == unit.actor.account_id, AgentRun.contact_id == other.id
    about = Notice.contact_id == other.id, Notice.kind == NoticeKind.new_message
    told = select(Notice.id).where(*about, Notice.subject_id >= AgentRun.message_id).exists()
    ended = select(AgentRun.id).where(*own, AgentRun.status != AgentRunStatus.done, AgentRun.outcome.is_(None), ~told)
    for _ in await unit.all(ended.order_by(AgentRun.id)):
        outbox.record(unit, AgentState.of_none(unit), into.id)


async def _move_notices(unit: UnitOfWork, other: Contact, into: Contact) -> None:
    """Move notices; those of unread texts are joined where a user has one of each contact."""
    unread = {"kind": NoticeKind.new_message, "read_at": None}
    twin = aliased(Notice)
    same = twin.user_id == Notice.user_id, twin.contact_id == other.id
    more, text = (select(of).where(*same).filter_by(**unread).scalar_subquery() for of in (twin.count, twin.subject_id))
    kept = update(Notice).where(Notice.contact_id == into.id).filter_by(**unread)
    sums = {"count": Notice.count + func.coalesce(more, 0), "subject_id": func.greatest(Notice.subject_id, text)}
    await unit.execute(kept.values(sums).execution_options(**UNREAD))
    joined = select(twin.id).where(twin.user_id == Notice.user_id, twin.contact_id == into.id).filter_by(**unread)
    is_joined = and_(Notice.kind == NoticeKind.new_message, Notice.read_at.is_(None), joined.exists())
    rest = update(Notice).where(Notice.contact_id == other.id, ~is_joined)
    await unit.execute(rest.values(contact_id=into.id).execution_options(**UNREAD))


async def _find_first_unread(unit: UnitOfWork, *conversations: Conversation) -> int | None:
    """Return the id of the first unread text of conversations whose texts were not moved yet."""
    unread = [(each.id, each.read_up_to) for each in conversations if each.unread_count]
    return min((await messages.find_first_unread(unit, unread)).values(), default=None)


async def _join(unit: UnitOfWork, source: Conversation, target: Conversation, unread: int | None) -> None:
    """Add the counts of another conversation: the result is unread, open, waiting and people's where either is."""
    before = ConversationChanged.of(unit, target)
    target.sending_number = max(source, target, key=_last_text_at).sending_number
    target.ai_state = max(source.ai_state, target.ai_state, key=AI_STATES.index)
    for name in ("last_message_at", "last_inbound_at", "last_outbound_at"):
        setattr(target, name, _latest(getattr(source, name), getattr(target, name)))
    target.waiting_since = min(filter(None, (source.waiting_since, target.waiting_since)), default=None)
    await _join_reading(unit, source, target, unread)
    target.wrong_number = target.wrong_number or source.wrong_number
    target.assignee_id = target.assignee_id or source.assignee_id
    if "open" in (source.status, target.status):
        target.status, target.snoozed_until = "open", None
    await service.save(unit, target, before)


async def _join_reading(unit: UnitOfWork, source: Conversation, target: Conversation, unread: int | None) -> None:
    """Mark the joined texts as read up to the first one that was unread in either conversation."""
    last = unread - 1 if unread else max(source.read_up_to or 0, target.read_up_to or 0)
    target.read_up_to = last or None
    target.unread_count = await reading.count_after(unit, target, last) if unread else 0


def _last_text_at(conversation: Conversation) -> datetime:
    return max(filter(None, (conversation.last_inbound_at, conversation.last_outbound_at)), default=UNLISTED)


def _latest(one: datetime | None, other: datetime | None) -> datetime | None:
    return max(one, other) if one and other else one or other

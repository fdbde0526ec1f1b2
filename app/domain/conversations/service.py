"""Open, assign, close and snooze conversations, mark them as read, and pause or release AI agents in them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple, TypedDict

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert

from app.domain.accounts.models import User
from app.domain.contacts.models import Contact
from app.domain.conversations import history, queries
from app.domain.conversations.events import ConversationChanged, NewConversation
from app.domain.conversations.models import AiState, Conversation, ConversationStatus
from app.domain.events import outbox
from app.domain.kernel import versions
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound
from app.domain.kernel.events import timestamp
from app.domain.kernel.unit_of_work import UnitOfWork

LONGEST_SNOOZE = timedelta(days=366)
MAX_TOGETHER = 100
"""The maximum number of conversations that are changed together."""

FIND_SNOOZED = "SELECT DISTINCT account_id FROM conversations WHERE snoozed_until <= $1 LIMIT 100"
"""Finds the accounts with conversations whose snooze ended at `$1`."""


class ConversationFields(TypedDict, total=False):
    """The fields that a caller may set; omitted fields keep their values."""

    status: ConversationStatus
    snoozed_until: datetime


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
    """Return the conversation with a contact, locked; open it if it does not exist.

    A send may open it at the same time: then it is returned once that transaction is committed.
    """
    conversation = await queries.find_by_contact(unit, contact.id, lock=True)
    if conversation is not None:
        return conversation
    now = unit.clock.now()
    row = {"account_id": unit.actor.account_id, "contact_id": contact.id, "last_message_at": now, "created_at": now}
    added = insert(Conversation).values(row).on_conflict_do_nothing(index_elements=[Conversation.contact_id])
    id = (await unit.execute(added.returning(Conversation.id))).scalar_one_or_none()
    if id is not None:
        outbox.record(unit, opened(id, contact, first, timestamp(now)), contact.id)
    conversation = await queries.find_by_contact(unit, contact.id, lock=True)
    assert conversation is not None, "a conversation is deleted with its contact, which is locked"
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
    """Close, reopen or snooze a conversation, and mark it as read or unread; raise `InvalidInput` or `NotFound`."""
    conversation = await queries.get(unit, id, lock=True)
    before = ConversationChanged.of(unit, conversation)
    _set_status(unit, conversation, fields)
    if reading:
        conversation.read_up_to, conversation.unread_count = reading
    await save(unit, conversation, before)
    return conversation


async def update_many(unit: UnitOfWork, ids: Sequence[int], fields: ConversationFields) -> Sequence[Conversation]:
    """Close, reopen or snooze up to `MAX_TOGETHER` conversations; return those that exist, by id. Raise `NotFound`."""
    found = await _lock(unit, ids)
    for conversation in found:
        before = ConversationChanged.of(unit, conversation)
        _set_status(unit, conversation, fields)
        history.record_change(unit, conversation, before)
    await unit.save(*found)
    return found


async def assign(
    unit: UnitOfWork, id: int, assignee_id: int | None, expected_version: int | None = None
) -> Conversation:
    """Assign a conversation to a user, or to none; raise `Conflict` if its version is not the expected one."""
    conversation = await queries.get(unit, id, lock=True)
    if versions.is_outdated(expected_version, conversation.version):
        raise Conflict(reason=await describe_change(unit, conversation, expected_version), field=versions.ARGUMENT)
    before = ConversationChanged.of(unit, conversation)
    conversation.assignee_id = await _assignee(unit, assignee_id)
    await save(unit, conversation, before)
    return conversation


async def assign_many(unit: UnitOfWork, ids: Sequence[int], assignee_id: int | None) -> Sequence[Conversation]:
    """Assign up to `MAX_TOGETHER` conversations to a user or none; return those that exist, by id. Raise `NotFound`."""
    assignee = await _assignee(unit, assignee_id)
    found = await _lock(unit, ids)
    for conversation in found:
        before = ConversationChanged.of(unit, conversation)
        conversation.assignee_id = assignee
        history.record_change(unit, conversation, before)
    await unit.save(*found)
    return found


async def describe_change(unit: UnitOfWork, conversation: Conversation, expected_version: int | None) -> str:
    """Return the sentences that tell a caller of the present state of a conversation that has changed."""
    assignee = "nobody"
    if conversation.assignee_id is not None:
        name = func.trim(User.first_name + " " + User.last_name)
        known = await unit.one(select(name).where(User.id == conversation.assignee_id))
        assignee = f"user {conversation.assignee_id}{f' ({known})' if known else ''}"
    return (
        f"The conversation has changed since version {expected_version}: it is version {conversation.version} now, "
        f"{conversation.status}, and assigned to {assignee}. Read it, and repeat with expected_version: "
        f"{conversation.version}."
    )


async def pause_ai(unit: UnitOfWork, id: int) -> Conversation:
    """Let no AI agent answer in a conversation until it is released."""
    return await _set_ai(unit, id, AiState.paused)


async def hand_over(unit: UnitOfWork, id: int) -> Conversation:
    """Hand a conversation from an AI agent to people: it is open, and no agent answers until it is released."""
    return await _set_ai(unit, id, AiState.handed_over)


async def release_ai(unit: UnitOfWork, id: int) -> Conversation:
    """Let AI agents answer in a conversation."""
    return await _set_ai(unit, id, AiState.active)


async def wake(unit: UnitOfWork) -> int:
    """Reopen the conversations of the actor's account whose snooze has ended; return their number."""
    due = await queries.lock_snoozed(unit, unit.clock.now(), MAX_TOGETHER)
    for conversation in due:
        before = ConversationChanged.of(unit, conversation)
        reopen(conversation)
        history.record_change(unit, conversation, before)
    await unit.save(*due)
    return len(due)


def reopen(conversation: Conversation) -> bool:
    """Open a conversation that is closed or snoozed; return False for one that is open."""
    if conversation.status == ConversationStatus.open:
        return False
    conversation.status, conversation.snoozed_until = ConversationStatus.open, None
    return True


async def save(unit: UnitOfWork, conversation: Conversation, before: ConversationChanged) -> None:
    """Save a conversation, and record an event if it differs from `before`."""
    history.record_change(unit, conversation, before)
    await unit.save(conversation)


def _set_status(unit: UnitOfWork, conversation: Conversation, fields: ConversationFields) -> None:
    until = fields.get("snoozed_until")
    status = fields.get("status") or (ConversationStatus.snoozed if until else None)
    if status == ConversationStatus.snoozed:
        _check_snooze(unit, until)
    elif until:
        raise InvalidInput(reason="snoozed_until must be left out unless status is snoozed.", field="snoozed_until")
    if status:
        conversation.status, conversation.snoozed_until = status, until
    if conversation.status == ConversationStatus.closed:
        conversation.waiting_since = None


def _check_snooze(unit: UnitOfWork, until: datetime | None) -> None:
    now = unit.clock.now()
    if until is None or not now < until <= now + LONGEST_SNOOZE:
        reason = f"snoozed_until must be a time in the future, at most {LONGEST_SNOOZE.days} days away."
        raise InvalidInput(reason=reason, field="snoozed_until")


async def _set_ai(unit: UnitOfWork, id: int, state: AiState) -> Conversation:
    conversation = await queries.get(unit, id, lock=True)
    before = ConversationChanged.of(unit, conversation)
    conversation.ai_state = state
    if state is AiState.handed_over:
        reopen(conversation)
    await save(unit, conversation, before)
    return conversation


async def _lock(unit: UnitOfWork, ids: Sequence[int]) -> Sequence[Conversation]:
    if not 1 <= len(ids) <= MAX_TOGETHER:
        raise InvalidInput(reason=f"ids must have from 1 to {MAX_TOGETHER} entries.", field="ids")
    found = await queries.lock_many(unit, ids)
    if not found:
        raise NotFound(kind="conversation", id=ids[0])
    return found


async def _assignee(unit: UnitOfWork, id: int | None) -> int | None:
    if id is None:
        return None
    own = User.account_id == unit.actor.account_id, User.id == id, User.removed_at.is_(None)
    found = await unit.one(select(User.id).where(*own))
    if found is None:
        raise NotFound(kind="user", id=id)
    return found

"""Queries for conversations."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Select, literal_column, select

from app.domain.conversations.models import Conversation, ConversationStatus
from app.domain.kernel.errors import NotFound
from app.domain.kernel.paging import Order, Page, Window, fetch
from app.domain.kernel.unit_of_work import UnitOfWork

RECENT = Order((Conversation.last_message_at, Conversation.id))
IS_UNREAD = Conversation.unread_count > literal_column("0")
"""The condition of a partial index, as a constant: a plan for any parameters could not use the index."""


@dataclass(frozen=True, slots=True)
class ConversationFilter:
    """Filter of a list of conversations."""

    status: ConversationStatus | None = None
    assignee_id: int | None = None
    contact_id: int | None = None
    unread_only: bool = False


async def find_page(unit: UnitOfWork, wanted: ConversationFilter, window: Window) -> Page[Conversation]:
    """Return one page of the account's conversations, latest message first."""
    statement = _filtered(unit, wanted)

    return await fetch(unit, statement, RECENT, window)


async def get(unit: UnitOfWork, id: int, *, lock: bool = False) -> Conversation:
    """Return a conversation; with `lock`, locked for a change. Raise `NotFound`."""
    conversation = await unit.one(_own(unit, lock=lock).where(Conversation.id == id))
    if conversation is None:
        raise NotFound(kind="conversation", id=id)
    return conversation


async def find_by_contact(unit: UnitOfWork, contact_id: int, *, lock: bool = False) -> Conversation | None:
    """Return the conversation with a contact."""
    return await unit.one(_own(unit, lock=lock).where(Conversation.contact_id == contact_id))


async def find_by_contacts(unit: UnitOfWork, contact_ids: Sequence[int]) -> dict[int, Conversation]:
    """Return the conversations with contacts, by contact id."""
    found = await unit.all(_own(unit).where(Conversation.contact_id.in_(contact_ids)))
    return {conversation.contact_id: conversation for conversation in found}


def _own(unit: UnitOfWork, *, lock: bool = False) -> Select[Conversation]:
    statement = select(Conversation).where(Conversation.account_id == unit.actor.account_id)
    return statement.with_for_update(key_share=True).execution_options(populate_existing=True) if lock else statement


def _filtered(unit: UnitOfWork, wanted: ConversationFilter) -> Select[Conversation]:
    statement = _own(unit)
    if wanted.status:
        statement = statement.where(Conversation.status == wanted.status)
    if wanted.assignee_id is not None:
        statement = statement.where(Conversation.assignee_id == wanted.assignee_id)
    if wanted.contact_id is not None:
        statement = statement.where(Conversation.contact_id == wanted.contact_id)
    if wanted.unread_only:
        statement = statement.where(IS_UNREAD)
    return statement

"""Queries for conversations."""

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Select, and_, func, literal_column, select, true
from sqlalchemy.orm import InstrumentedAttribute

from app.domain.contacts import queries as contacts
from app.domain.conversations.models import Conversation, ConversationEntry, ConversationStatus, EntryKind
from app.domain.kernel import paging, records
from app.domain.kernel.errors import InvalidInput, NotFound
from app.domain.kernel.histories import Place, latest
from app.domain.kernel.paging import Order, Page, Window, fetch
from app.domain.kernel.relations import Relation
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.numbers import queries as numbers


class ConversationSort(enum.StrEnum):
    """The sort order of a list of conversations."""

    latest = enum.auto()
    oldest_waiting = enum.auto()


ORDERS = {
    ConversationSort.latest: Order((Conversation.last_message_at, Conversation.id)),
    ConversationSort.oldest_waiting: Order((Conversation.waiting_since, Conversation.id), descending=False),
}
MAX_COUNTED = 100
"""The limit of `ConversationCounts`: 100 stands for 100 or more."""

NOBODY = 0
"""The id that no user has."""

IS_OPEN = Conversation.status == literal_column(f"'{ConversationStatus.open}'")
IS_UNREAD = Conversation.unread_count > literal_column("0")
IS_UNASSIGNED = Conversation.assignee_id.is_(None)
IS_WAITING = Conversation.waiting_since.is_not(None)
OPT_OUT = Conversation.possible_opt_out == true()
IS_SNOOZED = Conversation.snoozed_until.is_not(None)
IS_LISTED = Conversation.last_message_at > literal_column("'epoch'::timestamptz")
"""The conditions of partial indexes, as constants: a plan for any parameters could not use the index."""


@dataclass(frozen=True, slots=True)
class ConversationFilter:
    """Filter of a list of conversations.

    `search` matches the name, the phone and the e-mail address of the contact. `phone_number_id` is the number that the
    latest text was sent from, or arrived at. Conversations that have promotional texts only are found by `search` and
    by `contact_id`.
    """

    status: ConversationStatus | None = None
    assignee_id: int | None = None
    contact_id: int | None = None
    unread_only: bool = False
    unassigned: bool = False
    possible_opt_out: bool = False
    phone_number_id: int | None = None
    search: str | None = None


@dataclass(frozen=True, slots=True)
class ConversationCounts:
    """The sizes of the views of an inbox, each counted up to `MAX_COUNTED`. `mine` is 0 without a user."""

    open: int
    mine: int
    unassigned: int
    unread: int
    snoozed: int
    possible_opt_out: int


async def find_page(
    unit: UnitOfWork, wanted: ConversationFilter, window: Window, sort: ConversationSort = ConversationSort.latest
) -> Page[Conversation]:
    """Return one page of the account's conversations.

    The oldest waiting ones are those whose contact waits for an answer. A number that the account does not have finds
    none. Raises `InvalidInput` for contradictory filters.
    """
    if wanted.unassigned and wanted.assignee_id is not None:
        raise InvalidInput(reason="unassigned must not be given together with assignee_id.", field="unassigned")
    statement = _filtered(unit, wanted)
    if wanted.phone_number_id is not None:
        number = await numbers.find_any(unit, wanted.phone_number_id)
        statement = statement.where(Conversation.sending_number == (number.phone_number if number else ""))
    if sort is ConversationSort.oldest_waiting:
        statement = statement.where(IS_WAITING)
    if wanted != ConversationFilter(contact_id=wanted.contact_id):
        await paging.plan_for_values(unit)
    return await fetch(unit, statement, ORDERS[sort], window)


def by_last_message(
    account_id: InstrumentedAttribute[int], contact_id: InstrumentedAttribute[int]
) -> tuple[type[Conversation], ColumnElement[bool], Order]:
    """Return a table, the condition of its join, and an order: contacts by their last message, the latest first."""
    of_contact = and_(Conversation.account_id == account_id, Conversation.contact_id == contact_id, IS_LISTED)
    return Conversation, of_contact, ORDERS[ConversationSort.latest]


async def find_last_messages(unit: UnitOfWork, contact_ids: Sequence[int]) -> dict[int, datetime]:
    """Return the times of the last messages from and to contacts other than promotional ones, by contact id."""
    own = Conversation.account_id == unit.actor.account_id, records.among(Conversation.contact_id, contact_ids)
    rows = await unit.rows(select(Conversation.contact_id, Conversation.last_message_at).where(*own, IS_LISTED))
    return {row[0]: row[1] for row in rows}


async def count(unit: UnitOfWork) -> ConversationCounts:
    """Count the conversations of the views of the actor's inbox, in one statement."""
    mine = Conversation.assignee_id == (unit.actor.user_id or NOBODY)
    views = (IS_OPEN,), (IS_OPEN, mine), (IS_OPEN, IS_UNASSIGNED), (IS_UNREAD,), (IS_SNOOZED,), (OPT_OUT,)
    [sizes] = await unit.rows(select(*(_count(unit, *conditions) for conditions in views)))
    return ConversationCounts(*sizes)


async def get(unit: UnitOfWork, id: int, *, lock: bool = False) -> Conversation:
    """Return a conversation; with `lock`, locked for a change. Raise `NotFound`."""
    conversation = await unit.one(_own(unit, lock=lock).where(Conversation.id == id))
    if conversation is None:
        raise NotFound(kind="conversation", id=id)
    return conversation


async def find_by_contact(unit: UnitOfWork, contact_id: int, *, lock: bool = False) -> Conversation | None:
    """Return the conversation with a contact."""
    return await unit.one(_own(unit, lock=lock).where(Conversation.contact_id == contact_id))


OF_CONTACT = Relation(Conversation, Conversation.contact_id)
"""The conversation with a contact."""


@dataclass(frozen=True, slots=True)
class FindByContacts:
    """Finds the conversations with contacts, for reading only of these attributes; of all, if None."""

    columns: frozenset[str] | None = None

    async def __call__(self, unit: UnitOfWork, contact_ids: Sequence[int]) -> dict[int, Conversation]:
        """Return the conversations by the id of the contact."""
        columns = None if self.columns is None else self.columns | {"contact_id"}
        own = _own(unit).where(records.among(Conversation.contact_id, contact_ids))
        return {conversation.contact_id: conversation for conversation in await records.find(unit, own, columns)}


async def lock_many(unit: UnitOfWork, ids: Sequence[int]) -> Sequence[Conversation]:
    """Return conversations in the order of their ids, locked for a change."""
    return await unit.all(_own(unit, lock=True).where(Conversation.id.in_(ids)).order_by(Conversation.id))


async def lock_of_contacts(unit: UnitOfWork, contact_ids: Sequence[int]) -> None:
    """Lock the conversations with contacts, in the order of their ids."""
    own = _own(unit).where(records.among(Conversation.contact_id, contact_ids)).order_by(Conversation.id)
    await unit.all(own.with_only_columns(Conversation.id).with_for_update())


async def lock_doubtful(unit: UnitOfWork, contact_ids: Sequence[int]) -> Sequence[Conversation]:
    """Return the conversations with contacts whose reply may be an opt-out, in the order of their ids, locked."""
    of_contacts = _own(unit, lock=True).where(OPT_OUT, records.among(Conversation.contact_id, contact_ids))
    return await unit.all(of_contacts.order_by(Conversation.id))


async def lock_snoozed(unit: UnitOfWork, at: datetime, limit: int) -> Sequence[Conversation]:
    """Return conversations whose snooze has ended at a time, locked; those that others have locked are left out."""
    ended = _own(unit).where(Conversation.snoozed_until <= at).order_by(Conversation.snoozed_until).limit(limit)
    return await unit.all(ended.with_for_update(skip_locked=True, key_share=True))


async def list_entries(
    unit: UnitOfWork, conversation_id: int, limit: int, *, before: int | None = None, since: int | None = None
) -> Sequence[ConversationEntry]:
    """Return the latest entries of a thread before an id, or the first ones from an id on, at most `limit`."""
    own = ConversationEntry.account_id == unit.actor.account_id, ConversationEntry.conversation_id == conversation_id
    entries = select(ConversationEntry).where(*own).limit(limit)
    if since is not None:
        return await unit.all(entries.where(ConversationEntry.id >= since).order_by(ConversationEntry.id))
    if before is not None:
        entries = entries.where(ConversationEntry.id < before)
    return await unit.all(entries.order_by(ConversationEntry.id.desc()))


async def list_entries_of_contact(
    unit: UnitOfWork, contact_id: int, before: Place | None, limit: int
) -> Sequence[ConversationEntry]:
    """Return the latest entries of the thread with a contact before a place."""
    thread = _own(unit).where(Conversation.contact_id == contact_id).with_only_columns(Conversation.id)
    own = ConversationEntry.account_id == unit.actor.account_id
    entries = select(ConversationEntry).where(own, ConversationEntry.conversation_id == thread.scalar_subquery())
    return await unit.all(latest(entries, ConversationEntry.created_at, ConversationEntry.id, before, limit))


async def find_notes(unit: UnitOfWork, ids: Sequence[int]) -> dict[int, ConversationEntry]:
    """Return notes by their ids."""
    of_account = ConversationEntry.account_id == unit.actor.account_id, ConversationEntry.kind == EntryKind.note
    found = await unit.all(select(ConversationEntry).where(ConversationEntry.id.in_(ids), *of_account))
    return {note.id: note for note in found}


def _own(unit: UnitOfWork, *, lock: bool = False) -> Select[Conversation]:
    statement = select(Conversation).where(Conversation.account_id == unit.actor.account_id)
    return statement.with_for_update(key_share=True).execution_options(populate_existing=True) if lock else statement


def _filtered(unit: UnitOfWork, wanted: ConversationFilter) -> Select[Conversation]:
    statement = _own(unit)
    if wanted.status:
        is_open = wanted.status is ConversationStatus.open
        statement = statement.where(IS_OPEN if is_open else Conversation.status == wanted.status)
    if wanted.assignee_id is not None:
        statement = statement.where(Conversation.assignee_id == wanted.assignee_id)
    if wanted.contact_id is not None:
        statement = statement.where(Conversation.contact_id == wanted.contact_id)
    if wanted.unread_only:
        statement = statement.where(IS_UNREAD)
    if wanted.unassigned:
        statement = statement.where(IS_UNASSIGNED)
    if wanted.possible_opt_out:
        statement = statement.where(OPT_OUT)
    return _searched(unit, statement, wanted)


def _searched(unit: UnitOfWork, statement: Select[Conversation], wanted: ConversationFilter) -> Select[Conversation]:
    """Return the statement for the search of a filter; without one, only for conversations that lists show."""
    if wanted.search and wanted.search.strip():
        return statement.where(Conversation.contact_id.in_(contacts.matching(unit, wanted.search.strip())))
    return statement.where(IS_LISTED) if wanted.contact_id is None else statement


def _count(unit: UnitOfWork, *conditions: ColumnElement[bool]) -> ColumnElement[int]:
    own = Conversation.account_id == unit.actor.account_id
    some = select(Conversation.id).where(own, IS_LISTED, *conditions).limit(MAX_COUNTED).subquery()
    return select(func.count()).select_from(some).scalar_subquery()

"""Queries for messages."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ARRAY, BigInteger, ColumnElement, Select, func, literal, or_, select, true
from sqlalchemy.orm import aliased

from app.domain.contacts import queries as contacts
from app.domain.conversations import queries as conversations
from app.domain.kernel import paging, records
from app.domain.kernel.errors import InvalidInput, NotFound
from app.domain.kernel.histories import Place, between, latest
from app.domain.kernel.paging import Order, Page, Window, fetch, fetch_each
from app.domain.kernel.relations import Relation
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages.models import Direction, Message, MessageStatus, Purpose
from app.domain.messages.requests import AGENT

NEWEST = Order((Message.id,))
OF_CONVERSATION = Relation(Message, Message.conversation_id, NEWEST)
"""The messages of a conversation, the newest first."""

FINAL_REPORT_WITHIN = timedelta(hours=72)
"""The time after which no final report of a sent message is expected any more."""


LOOKED_AT = 2000
"""The number of the newest messages of an account in which `count_repeated` looks."""

MAX_SEARCH = 100

SEARCHED_WITHIN = timedelta(days=31)
"""The longest time whose texts are searched, because no index has their words."""


@dataclass(frozen=True, slots=True)
class MessageFilter:
    """Filter of a list of messages. `search` is a part of the text in any case; `until` is exclusive."""

    status: MessageStatus | None = None
    direction: Direction | None = None
    contact_id: int | None = None
    conversation_id: int | None = None
    error_code: str | None = None
    search: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def check(self, now: datetime) -> None:
        """Raise `InvalidInput` for a long search, or one through more than one thread or `SEARCHED_WITHIN`."""
        if len(self.search or "") > MAX_SEARCH:
            raise InvalidInput(reason=f"search must have at most {MAX_SEARCH} characters.", field="search")
        is_one_thread = self.contact_id is not None or self.conversation_id is not None
        if not self.search or is_one_thread:
            return
        if self.since is None or (self.until or now) - self.since > SEARCHED_WITHIN:
            days = SEARCHED_WITHIN.days
            reason = f"search needs a contact, a conversation, or since and until at most {days} days apart."
            raise InvalidInput(reason=reason, field="search")


async def find_page(unit: UnitOfWork, wanted: MessageFilter, window: Window) -> Page[Message]:
    """Return one page of the account's messages, newest first.

    Raises `InvalidInput` as `MessageFilter.check`, and `NotFound` for an unknown conversation or contact.
    """
    wanted.check(unit.clock.now())
    if wanted.since or wanted.until:
        await paging.plan_for_values(unit)
    page = await fetch(unit, _filtered(unit, wanted), NEWEST, window)
    if not page.nodes and wanted.conversation_id is not None:
        await conversations.get(unit, wanted.conversation_id)
    if not page.nodes and wanted.contact_id is not None:
        await contacts.get(unit, wanted.contact_id)
    return page


@dataclass(frozen=True, slots=True)
class FindPages:
    """Finds the page of each of several conversations, the newest message first, in one statement."""

    window: Window

    async def __call__(self, unit: UnitOfWork, conversation_ids: Sequence[int]) -> dict[int, Page[Message]]:
        """Return the pages by the conversation's id."""
        return await fetch_each(unit, OF_CONVERSATION, conversation_ids, self.window)


def is_unconfirmed(message: Message, now: datetime) -> bool:
    """Return whether the outcome of a sent message is unknown: it is marked so, or its final report is overdue."""
    overdue = message.sent_at is not None and message.sent_at < now - FINAL_REPORT_WITHIN
    return message.unconfirmed or (message.status == MessageStatus.sent and overdue)


async def get(unit: UnitOfWork, id: int) -> Message:
    """Return a message; raise `NotFound`."""
    message = await find(unit, id)
    if message is None:
        raise NotFound(kind="message", id=id)
    return message


async def lock(unit: UnitOfWork, id: int) -> Message:
    """Return a message as it is now, locked for a change; raise `NotFound`."""
    present = _own(unit).where(Message.id == id).with_for_update().execution_options(populate_existing=True)
    message = await unit.one(present)
    if message is None:
        raise NotFound(kind="message", id=id)
    return message


async def find(unit: UnitOfWork, id: int) -> Message | None:
    """Return a message, or None when the account has no message with that id."""
    return await unit.one(_own(unit).where(Message.id == id))


async def find_many(unit: UnitOfWork, ids: Sequence[int]) -> dict[int, Message]:
    """Return messages by their ids."""
    return {message.id: message for message in await unit.all(_own(unit).where(records.among(Message.id, ids)))}


async def list_in_thread(
    unit: UnitOfWork, conversation_id: int, limit: int, *, before: int | None = None, since: int | None = None
) -> Sequence[Message]:
    """Return the latest messages of a thread before an id, or the first ones from an id on, at most `limit`."""
    messages = _own(unit).where(Message.conversation_id == conversation_id).limit(limit)
    if since is not None:
        return await unit.all(messages.where(Message.id >= since).order_by(Message.id))
    if before is not None:
        messages = messages.where(Message.id < before)
    return await unit.all(messages.order_by(Message.id.desc()))


async def list_of_contact(unit: UnitOfWork, contact_id: int, before: Place | None, limit: int) -> Sequence[Message]:
    """Return the latest messages of a contact before a place."""
    own = _own(unit).where(Message.contact_id == contact_id)
    return await unit.all(latest(own, Message.created_at, Message.id, before, limit))


async def find_last(unit: UnitOfWork, conversation_ids: Sequence[int]) -> dict[int, Message]:
    """Return the latest message of each conversation, by conversation id: a promotional one if there is no other."""
    found = await _find_latest(unit, conversation_ids, Message.purpose != Purpose.promotional)
    rest = [id for id in conversation_ids if id not in found]
    return found | await _find_latest(unit, rest) if rest else found


Read = tuple[int, int | None]
"""A conversation, and the id of the last message in it that was read."""


async def find_first_unread(unit: UnitOfWork, read: Sequence[Read]) -> dict[Read, int]:
    """Return the id of the first inbound message of each conversation after the last one that was read."""
    ids, seen = [id for id, _ in read], [last or 0 for _, last in read]
    columns = func.unnest(literal(ids, ARRAY(BigInteger)), literal(seen, ARRAY(BigInteger)))
    asked = select(columns.table_valued("id", "seen").render_derived()).subquery()
    unread = select(func.min(Message.id).label("first")).where(
        Message.account_id == unit.actor.account_id,
        Message.conversation_id == asked.c.id,
        Message.id > asked.c.seen,
        Message.direction == Direction.inbound,
    )
    first = unread.correlate(asked).scalar_subquery()
    rows = await unit.rows(select(asked.c.id, asked.c.seen, first))
    found = {(id, last): message_id for id, last, message_id in rows if message_id is not None}
    return {each: found[each[0], each[1] or 0] for each in read if (each[0], each[1] or 0) in found}


async def find_last_inbound(unit: UnitOfWork, conversation_id: int) -> Message | None:
    """Return the latest inbound message of a conversation."""
    received = _own(unit).where(Message.conversation_id == conversation_id, Message.direction == Direction.inbound)
    return await unit.one(received.order_by(Message.id.desc()).limit(1))


async def list_latest(unit: UnitOfWork, conversation_id: int, most: int) -> Sequence[Message]:
    """Return the latest messages of a conversation, the newest first."""
    return await unit.all(
        _own(unit).where(Message.conversation_id == conversation_id).order_by(Message.id.desc()).limit(most)
    )


async def count_of_agents(unit: UnitOfWork, conversation_id: int, since: datetime, people: Sequence[str]) -> int:
    """Return the number of texts of AI agents in a conversation after an instant, and after the last one of a person.

    `people` are the beginnings of the labels of people.
    """
    own = _own(unit).where(
        Message.conversation_id == conversation_id,
        Message.direction == Direction.outbound,
        Message.created_at > since,
    )
    by_people = or_(*(Message.actor.startswith(each) for each in people))
    of_person = own.where(by_people, Message.purpose == Purpose.conversational).with_only_columns(func.max(Message.id))
    of_agents = own.where(Message.actor.startswith(AGENT)).with_only_columns(func.count())
    return await unit.one(of_agents.where(Message.id > func.coalesce(of_person.scalar_subquery(), 0))) or 0


async def list_waiting(unit: UnitOfWork, contact_id: int) -> Sequence[Message]:
    """Return the pending messages to a contact in id order, locked."""
    waiting = _own(unit).where(Message.contact_id == contact_id, Message.status == MessageStatus.pending)
    return await unit.all(waiting.order_by(Message.id).with_for_update())


async def _find_latest(
    unit: UnitOfWork, conversation_ids: Sequence[int], *conditions: ColumnElement[bool]
) -> dict[int, Message]:
    wanted = select(func.unnest(literal(conversation_ids, ARRAY(BigInteger))).label("id")).subquery()
    own = _own(unit).where(Message.conversation_id == wanted.c.id, *conditions)
    each = aliased(Message, own.order_by(Message.id.desc()).limit(1).lateral())
    found = await unit.all(select(each).select_from(wanted.join(each, true())))
    return {message.conversation_id: message for message in found}


def _own(unit: UnitOfWork) -> Select[Message]:
    return select(Message).where(Message.account_id == unit.actor.account_id)


def _filtered(unit: UnitOfWork, wanted: MessageFilter) -> Select[Message]:
    statement = _own(unit)
    if wanted.status:
        statement = statement.where(Message.status == wanted.status)
    if wanted.direction is Direction.inbound:  # every one of them is received, and the index is by status
        statement = statement.where(Message.status == MessageStatus.received)
    elif wanted.direction:
        statement = statement.where(Message.direction == wanted.direction)
    if wanted.contact_id is not None:
        statement = statement.where(Message.contact_id == wanted.contact_id)
    if wanted.conversation_id is not None:
        statement = statement.where(Message.conversation_id == wanted.conversation_id)
    if wanted.error_code is not None:
        statement = statement.where(Message.status == MessageStatus.failed, Message.error_code == wanted.error_code)
    if wanted.search:
        statement = statement.where(Message.body.icontains(wanted.search, autoescape=True))
    return statement.where(*between(Message, unit.actor.account_id, wanted.since, wanted.until))


async def count_repeated(unit: UnitOfWork, number: str, since: datetime) -> tuple[int, int]:
    """Return how many of the account's newest texts left a number since an instant, and how many have the same body.

    `LOOKED_AT` messages are looked at, however many there are. Answers to STOP, START and HELP do not count.
    """
    newest = select(Message.body, Message.from_number, Message.direction, Message.purpose, Message.created_at)
    looked_at = newest.where(Message.account_id == unit.actor.account_id).order_by(Message.id.desc()).limit(LOOKED_AT)
    found = looked_at.subquery()
    which = (
        found.c.from_number == number,
        found.c.direction == Direction.outbound,
        found.c.purpose != Purpose.compliance,
        found.c.created_at >= since,
    )
    rows = await unit.rows(select(func.count()).select_from(found).where(*which).group_by(found.c.body))
    counts = [int(row[0]) for row in rows]
    return sum(counts), max(counts, default=0)

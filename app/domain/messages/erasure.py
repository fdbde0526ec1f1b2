"""Erases the messages of a contact, and records the ids that carriers must delete and must not deliver again."""

from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, delete, exists, func, insert, literal, literal_column, select

from app.domain.billing import service as billing
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import queries
from app.domain.messages.models import (
    CarrierErasure,
    CarrierId,
    Direction,
    ErasedCall,
    ErasedText,
    Message,
    Outgoing,
    ReceiptRow,
    ScheduledText,
    StatusQuery,
    UnmatchedReceipt,
)
from app.domain.quiet_hours.models import CappedText

REFUND = "Contact deleted before sending"
"""The description of a refund in the ledger."""

RECORDED_WITHIN = timedelta(minutes=1)
"""The time after the end of a claim in which the answer to its call is recorded at the latest."""

REPEATED_FOR = timedelta(days=7)
"""The maximum time after which a carrier may repeat the callback of an inbound message."""

UNREAD: dict[str, Any] = {"synchronize_session": False}
"""The unit does not read the rows that these statements delete."""

GIVEN = (
    Message.carrier == CarrierId.carrier,
    Message.provider_message_id == CarrierId.provider_message_id,
    Message.direction == CarrierId.direction,
    Message.id == CarrierId.message_id,
)
NOTED = exists().where(
    CarrierId.direction == Direction.inbound,
    ErasedText.carrier == CarrierId.carrier,
    ErasedText.provider_message_id == CarrierId.provider_message_id,
)
"""The condition for the id of an inbound message that must not be stored again: it is kept with its `ErasedText`."""


async def lock_all(unit: UnitOfWork, *contact_ids: int) -> int:
    """Lock every message of contacts in the order of their ids, as the hand-off does; return how many there are."""
    own = Message.account_id == unit.actor.account_id, Message.contact_id.in_(contact_ids)
    return len(await unit.all(select(Message.id).where(*own).order_by(Message.id).with_for_update()))


async def refund_unsent(unit: UnitOfWork, contact_id: int) -> list[int]:
    """Refund the pending messages of a contact that have not left; return their ids.

    One in a call to its carrier is refunded after it, unless the carrier accepts it: see `erased_calls`.
    """
    waiting = await queries.list_waiting(unit, contact_id)
    queued = select(Outgoing).where(Outgoing.message_id.in_([message.id for message in waiting]))
    rows = await unit.all(queued.order_by(Outgoing.message_id).with_for_update())
    claimed = {row.message_id: row for row in rows if row.claimed_until}
    for message in waiting:
        if message.id in claimed:
            await _settle_later(unit, message, claimed[message.id])
        else:
            await billing.refund(unit, message.account_id, message.id, message.credits, REFUND)
    return [message.id for message in waiting if message.id not in claimed]


async def _settle_later(unit: UnitOfWork, message: Message, row: Outgoing) -> None:
    """Keep the credits of a message until its call has ended; of one without an answer, the last call has."""
    now = unit.clock.now()
    ended_at = now if row.unanswered_since else max(now, row.claimed_until or now)
    call = {"message_id": message.id, "account_id": message.account_id, "credits": message.credits}
    await unit.save(ErasedCall(**call, due_at=ended_at + RECORDED_WITHIN))


def ids_of(unit: UnitOfWork, contact_id: int) -> Select[int]:
    """Return a query of the ids of every message of a contact."""
    return select(Message.id).where(_is_of(unit, contact_id))


def received_from(unit: UnitOfWork, contact_id: int) -> Select[str, int]:
    """Return a query of the senders and ids of the messages from a contact, which may have had other phones."""
    inbound = Message.direction == Direction.inbound
    return select(Message.from_number, Message.id).where(_is_of(unit, contact_id), inbound)


async def erase_all(unit: UnitOfWork, contact_id: int) -> None:
    """Delete every message of a contact, and its receipts. Carriers delete their copies after the commit."""
    await _record_inbound_ids(unit, contact_id)
    await _queue_deletions(unit, contact_id)
    own, ids = _is_of(unit, contact_id), ids_of(unit, contact_id)
    for dependents in (ReceiptRow, UnmatchedReceipt, StatusQuery, Outgoing, ScheduledText, CappedText):
        await unit.execute(delete(dependents).where(dependents.message_id.in_(ids)).execution_options(**UNREAD))
    parts = CarrierId.message_id.in_(ids), CarrierId.parts > literal_column("1")
    await unit.execute(delete(CarrierId).where(*parts).execution_options(**UNREAD))
    await unit.execute(delete(CarrierId).where(own, *GIVEN, ~NOTED).execution_options(**UNREAD))
    await unit.execute(delete(Message).where(own).execution_options(**UNREAD))


async def _record_inbound_ids(unit: UnitOfWork, contact_id: int) -> None:
    """Record the carriers' ids of recent inbound messages, so that these are not stored again."""
    now = unit.clock.now()
    texts = select(Message.carrier, Message.provider_message_id, literal(now)).where(
        _is_of(unit, contact_id), Message.direction == Direction.inbound, Message.created_at > now - REPEATED_FOR
    )
    names = [ErasedText.carrier, ErasedText.provider_message_id, ErasedText.erased_at]
    await unit.execute(insert(ErasedText).from_select(names, texts))


async def _queue_deletions(unit: UnitOfWork, contact_id: int) -> None:
    """Record the messages that carriers must delete; a message in a hand-off is due after the claim ends.

    The rows of the queue are locked, so that no other worker claims them.
    """
    claim = select(Outgoing.claimed_until).where(Outgoing.message_id == Message.id).with_for_update()
    due_at = func.greatest(unit.clock.now(), claim.scalar_subquery())
    carried = select(Message.id, Message.carrier, Message.provider_message_id, due_at).where(_is_of(unit, contact_id))
    names = [
        CarrierErasure.message_id,
        CarrierErasure.carrier,
        CarrierErasure.provider_message_id,
        CarrierErasure.due_at,
    ]
    await unit.execute(insert(CarrierErasure).from_select(names, carried))
    unit.notify("erasures")


def _is_of(unit: UnitOfWork, contact_id: int) -> ColumnElement[bool]:
    return and_(Message.account_id == unit.actor.account_id, Message.contact_id == contact_id)

"""Erases the messages of a contact, and notes what carriers must delete and must not deliver again."""

from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, delete, exists, func, insert, literal, select

from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages.models import (
    CarrierErasure,
    CarrierId,
    Direction,
    ErasedText,
    Message,
    Outgoing,
    ReceiptRow,
    UnmatchedReceipt,
)

REPEATED_FOR = timedelta(days=7)
"""The maximum time after which a carrier may repeat the callback of an inbound message."""

UNREAD: dict[str, Any] = {"synchronize_session": False}
"""What is deleted here is not read in the same unit."""

GIVEN = (
    Message.carrier == CarrierId.carrier,
    Message.provider_message_id == CarrierId.provider_message_id,
    Message.direction == CarrierId.direction,
)
NOTED = exists().where(
    CarrierId.direction == Direction.inbound,
    ErasedText.carrier == CarrierId.carrier,
    ErasedText.provider_message_id == CarrierId.provider_message_id,
)
"""The id of an inbound message that is not to be taken in again: it stays as long as the note."""


async def lock_all(unit: UnitOfWork, contact_id: int) -> int:
    """Lock every message of a contact in the order of their ids, as the hand-off does; return how many there are."""
    own = select(Message.id).where(_is_of(unit, contact_id))
    return len(await unit.all(own.order_by(Message.id).with_for_update()))


async def erase_all(unit: UnitOfWork, contact_id: int) -> None:
    """Delete every message of a contact, queued ones too, with their reports. Carriers do so after the commit."""
    await _note_texts(unit, contact_id)
    await _note_carried(unit, contact_id)
    own = _is_of(unit, contact_id)
    ids = select(Message.id).where(own)
    for dependents in (ReceiptRow, UnmatchedReceipt, Outgoing):
        await unit.execute(delete(dependents).where(dependents.message_id.in_(ids)).execution_options(**UNREAD))
    await unit.execute(delete(CarrierId).where(own, *GIVEN, ~NOTED).execution_options(**UNREAD))
    await unit.execute(delete(Message).where(own).execution_options(**UNREAD))


async def _note_texts(unit: UnitOfWork, contact_id: int) -> None:
    """Note the carriers' ids of recent inbound messages, so that they are not taken in again."""
    now = unit.clock.now()
    texts = select(Message.carrier, Message.provider_message_id, literal(now)).where(
        _is_of(unit, contact_id), Message.direction == Direction.inbound, Message.created_at > now - REPEATED_FOR
    )
    names = [ErasedText.carrier, ErasedText.provider_message_id, ErasedText.erased_at]
    await unit.execute(insert(ErasedText).from_select(names, texts))


async def _note_carried(unit: UnitOfWork, contact_id: int) -> None:
    """Note the messages that carriers must delete; one that is being handed over at this moment, after its claim.

    The queued texts are locked, so that none is claimed from here on.
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

"""Forgetting what was told of a contact, for its erasure."""

from typing import Any

from sqlalchemy import ColumnElement, Select, Text, and_, cast, func, or_, select, update

from app.domain.events.dispatcher import LOCK
from app.domain.kernel.events import EventRow
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.webhooks.models import Attempt, Delivery, DeliveryStatus, Subscription

UNREAD: dict[str, Any] = {"synchronize_session": False}
"""What is written here is not read in the same unit."""


async def hold_dispatch(unit: UnitOfWork) -> None:
    """Let no event be dispatched until the unit ends. Whoever forgets calls it before it locks what is dispatched to.

    Nobody's events are dispatched meanwhile: call it late.
    """
    await unit.execute(select(func.pg_advisory_xact_lock(LOCK)))


async def forget_dispatched(unit: UnitOfWork, contact_id: int) -> None:
    """Empty what was dispatched of a contact before, and what was answered to it; `forget` then has less to do."""
    dispatched = _events_of(unit, contact_id), EventRow.dispatched_at.is_not(None)
    told = select(Delivery.id).where(Delivery.event_id.in_(select(EventRow.id).where(*dispatched)))
    await _forget_answers(unit, told)
    await unit.execute(update(EventRow).where(*dispatched).values(payload={}).execution_options(**UNREAD))


async def forget(unit: UnitOfWork, contact_id: int) -> None:
    """Empty the events of a contact, their deliveries, and what was answered to these.

    An event that waits to be dispatched is not dispatched any more, a delivery that waits is canceled. What is being
    posted at this moment arrives.
    """
    of_contact = _events_of(unit, contact_id)
    told = Delivery.event_id.in_(select(EventRow.id).where(of_contact))
    await _interrupt(unit, told)
    await unit.all(select(Delivery.id).where(told).order_by(Delivery.id).with_for_update())
    deliveries = update(Delivery).where(told).execution_options(**UNREAD)
    waiting = deliveries.where(Delivery.status == DeliveryStatus.pending)
    await unit.execute(waiting.values(status=DeliveryStatus.canceled, next_attempt_at=None))
    await unit.execute(deliveries.values(body=None))
    await _forget_answers(unit, select(Delivery.id).where(told))
    kept = or_(EventRow.dispatched_at.is_(None), cast(EventRow.payload, Text) != "{}")
    events = update(EventRow).where(of_contact, kept).execution_options(**UNREAD)
    dispatched = func.coalesce(EventRow.dispatched_at, unit.clock.now())
    await unit.execute(events.values(payload={}, dispatched_at=dispatched))


def _events_of(unit: UnitOfWork, contact_id: int) -> ColumnElement[bool]:
    return and_(EventRow.account_id == unit.actor.account_id, EventRow.contact_id == contact_id)


async def _forget_answers(unit: UnitOfWork, deliveries: Select[int]) -> None:
    kept = or_(Attempt.body != "", cast(Attempt.headers, Text) != "{}")
    answered = update(Attempt).where(Attempt.delivery_id.in_(deliveries), kept)
    await unit.execute(answered.values(body="", headers={}).execution_options(**UNREAD))


async def _interrupt(unit: UnitOfWork, told: ColumnElement[bool]) -> None:
    """Have whoever works for a subscription fetch anew what waits for it: what was fetched may be forgotten."""
    waiting = select(Delivery.subscription_id).where(told, Delivery.status == DeliveryStatus.pending)
    own = select(Subscription).where(Subscription.account_id == unit.actor.account_id, Subscription.id.in_(waiting))
    locked = await unit.all(own.order_by(Subscription.id).with_for_update(key_share=True))
    for subscription in locked:
        subscription.revision = Subscription.revision + 1
    await unit.save(*locked)

"""Forgetting what was told of a contact, for its erasure."""

from typing import Any

from sqlalchemy import ColumnElement, func, select, update

from app.domain.kernel.events import EventRow
from app.domain.kernel.unit import Unit
from app.domain.webhooks.dispatcher import LOCK
from app.domain.webhooks.models import Attempt, Delivery, DeliveryStatus, Subscription

UNREAD: dict[str, Any] = {"synchronize_session": False}
"""What is written here is not read in the same unit."""


async def hold_dispatch(unit: Unit) -> None:
    """Let no event be dispatched until the unit ends. Whoever forgets calls it before taking any other lock."""
    await unit.execute(select(func.pg_advisory_xact_lock(LOCK)))


async def forget(unit: Unit, contact_id: int) -> None:
    """Empty the events of a contact, their deliveries, and what was answered to these.

    An event that waits to be dispatched is not dispatched any more, a delivery that waits is canceled. What is being
    posted at this moment arrives.
    """
    of_contact = EventRow.account_id == unit.actor.account_id, EventRow.contact_id == contact_id
    told = Delivery.event_id.in_(select(EventRow.id).where(*of_contact))
    await _interrupt(unit, told)
    await unit.all(select(Delivery.id).where(told).order_by(Delivery.id).with_for_update())
    deliveries = update(Delivery).where(told).execution_options(**UNREAD)
    waiting = deliveries.where(Delivery.status == DeliveryStatus.pending)
    await unit.execute(waiting.values(status=DeliveryStatus.canceled, next_attempt_at=None))
    await unit.execute(deliveries.values(body=None))
    attempts = update(Attempt).where(Attempt.delivery_id.in_(select(Delivery.id).where(told)))
    await unit.execute(attempts.values(body="").execution_options(**UNREAD))
    events = update(EventRow).where(*of_contact).execution_options(**UNREAD)
    dispatched = func.coalesce(EventRow.dispatched_at, unit.clock.now())
    await unit.execute(events.values(payload={}, dispatched_at=dispatched))


async def _interrupt(unit: Unit, told: ColumnElement[bool]) -> None:
    """Have whoever works for a subscription fetch anew what waits for it: what was fetched may be forgotten."""
    waiting = select(Delivery.subscription_id).where(told, Delivery.status == DeliveryStatus.pending)
    own = select(Subscription).where(Subscription.account_id == unit.actor.account_id, Subscription.id.in_(waiting))
    locked = await unit.all(own.order_by(Subscription.id).with_for_update(key_share=True))
    for subscription in locked:
        subscription.revision = Subscription.revision + 1
    await unit.save(*locked)

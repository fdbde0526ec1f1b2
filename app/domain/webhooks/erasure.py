"""Erasure of the deliveries and recorded responses of a contact's events."""

from typing import Any

from sqlalchemy import ColumnElement, Select, Text, cast, or_, select, update

from app.domain.events import history as events
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.webhooks.models import Attempt, Delivery, DeliveryStatus, Subscription

UNREAD: dict[str, Any] = {"synchronize_session": False}
"""The unit does not read the rows that these statements change."""


async def empty(unit: UnitOfWork, contact_id: int) -> None:
    """Empty the deliveries of a contact's events, and the responses to them.

    Pending deliveries are canceled. A POST in flight still arrives.
    """
    of_contact = Delivery.event_id.in_(events.ids_of(unit.actor.account_id, contact_id))
    await _refetch_pending(unit, of_contact)
    await unit.all(select(Delivery.id).where(of_contact).order_by(Delivery.id).with_for_update())
    deliveries = update(Delivery).where(of_contact).execution_options(**UNREAD)
    waiting = deliveries.where(Delivery.status == DeliveryStatus.pending)
    await unit.execute(waiting.values(status=DeliveryStatus.canceled, next_attempt_at=None))
    await unit.execute(deliveries.values(body=None))
    await _empty_responses(unit, select(Delivery.id).where(of_contact))


async def move(unit: UnitOfWork, contact_id: int, into_id: int) -> None:
    """Give the deliveries of a contact's events to another contact, before the events."""
    of_contact = Delivery.event_id.in_(events.ids_of(unit.actor.account_id, contact_id))
    await unit.execute(update(Delivery).where(of_contact).values(contact_id=into_id).execution_options(**UNREAD))


async def _empty_responses(unit: UnitOfWork, deliveries: Select[int]) -> None:
    kept = or_(Attempt.body != "", cast(Attempt.headers, Text) != "{}")
    answered = update(Attempt).where(Attempt.delivery_id.in_(deliveries), kept)
    await unit.execute(answered.values(body="", headers={}).execution_options(**UNREAD))


async def _refetch_pending(unit: UnitOfWork, of_contact: ColumnElement[bool]) -> None:
    """Make delivery workers fetch the pending deliveries again, by a new `revision` of their subscriptions."""
    waiting = select(Delivery.subscription_id).where(of_contact, Delivery.status == DeliveryStatus.pending)
    own = select(Subscription).where(Subscription.account_id == unit.actor.account_id, Subscription.id.in_(waiting))
    locked = await unit.all(own.order_by(Subscription.id).with_for_update(key_share=True))
    for subscription in locked:
        subscription.revision = Subscription.revision + 1
    await unit.save(*locked)

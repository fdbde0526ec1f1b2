"""Queries for the subscriptions that the actor manages (`ownership.managed`), their deliveries and attempts."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, any_, case, func, select
from sqlalchemy.orm import defer

from app.domain.accounts.credentials import lives, sees_all
from app.domain.kernel import paging, records
from app.domain.kernel.errors import NotFound
from app.domain.kernel.paging import Order, Page, Window, fetch
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.webhooks import ownership
from app.domain.webhooks.delivery_filter import DeliveryFilter
from app.domain.webhooks.models import (
    Attempt,
    Delivery,
    Notice,
    Subscription,
    SubscriptionKind,
    SubscriptionStatus,
)


async def list_subscriptions(unit: UnitOfWork, kind: SubscriptionKind | None = None) -> Sequence[Subscription]:
    """Return the subscriptions that are not removed and whose creator has not ended, oldest first."""
    statement = _own(unit).where(lives(Subscription.creator_id, unit.clock.now())).order_by(Subscription.id)
    return await unit.all(statement.where(Subscription.kind == kind) if kind else statement)


async def get_subscription(
    unit: UnitOfWork, id: int, *, kind: SubscriptionKind | None = None, lock: bool = False
) -> Subscription:
    """Return a subscription that is not removed, of `kind` if given; raise `NotFound`.

    With `lock`, the row is locked for a change, and its creator may have ended: it can still be taken over.
    """
    statement = _own(unit).where(Subscription.id == id)
    if kind:
        statement = statement.where(Subscription.kind == kind)
    shown = statement.where(lives(Subscription.creator_id, unit.clock.now()))
    found = await unit.one(statement.with_for_update() if lock else shown)
    if found is None:
        raise NotFound(kind="webhook subscription", id=id)
    return found


async def count_subscriptions(unit: UnitOfWork) -> int:
    """Return the number of the account's subscriptions, including those that the actor does not manage."""
    own = Subscription.account_id == unit.actor.account_id, Subscription.status != SubscriptionStatus.removed
    return await unit.one(select(func.count()).where(*own)) or 0


async def find_deliveries(unit: UnitOfWork, wanted: DeliveryFilter, window: Window) -> Page[Delivery]:
    """Return one page of deliveries, newest first."""
    if wanted != DeliveryFilter():
        await paging.plan_for_values(unit)
    statement = select(Delivery).where(*_of_managed(unit), *wanted.conditions(unit.actor.account_id))
    order = Order((Delivery.id,))
    return await fetch(unit, statement, order if wanted.contact_id is None else order.unindexed, window)


async def get_delivery(unit: UnitOfWork, id: int, *, lock: bool = False) -> Delivery:
    """Return a delivery; raise `NotFound`. With `lock`, lock its subscription, then the delivery, for a change."""
    own = *_of_managed(unit), Delivery.id == id
    if lock:
        of = select(Delivery.subscription_id).where(*own).scalar_subquery()
        await unit.all(select(Subscription.id).where(Subscription.id == of).with_for_update())
    statement = select(Delivery).where(*own)
    found = await unit.one(statement.with_for_update() if lock else statement)
    if found is None:
        raise NotFound(kind="webhook delivery", id=id)
    return found


Chosen = tuple[dict[int, Delivery], dict[int, Subscription], set[int]]
"""Deliveries without their bodies, and their subscriptions, by their ids; and the ids of those that have a body."""


async def find_chosen(unit: UnitOfWork, ids: Sequence[int], *, lock: bool = False) -> Chosen:
    """Return the deliveries with some ids, and their subscriptions that are not removed.

    With `lock`, lock the subscriptions, then the deliveries, for a change.
    """
    own = select(Delivery).where(*_of_managed(unit), records.among(Delivery.id, ids)).order_by(Delivery.id)
    of = own.with_only_columns(Delivery.subscription_id).order_by(None)
    subscriptions = _own(unit).where(Subscription.id.in_(of)).order_by(Subscription.id)
    found = await unit.all(subscriptions.with_for_update() if lock else subscriptions)
    stated = own.add_columns(Delivery.body.is_not(None)).options(defer(Delivery.body, raiseload=True))
    deliveries = await unit.rows(stated.with_for_update() if lock else stated)
    with_body = {row.id for row, has_body in deliveries if has_body}
    return {row.id: row for row, _ in deliveries}, {row.id: row for row in found}, with_body


class DeliveryState(NamedTuple):
    """The event of a delivery, and whether its body is kept."""

    id: int
    event: str
    has_body: bool


async def find_replayable(
    unit: UnitOfWork, ended: DeliveryFilter, events: Sequence[str], limit: int, *, lock: bool = False
) -> Sequence[int]:
    """Return the oldest deliveries of some events that have a body, without tests; with `lock`, lock them."""
    await paging.plan_for_values(unit)
    sendable = Delivery.event.in_(events), Delivery.body.is_not(None)
    oldest = select(Delivery.id).where(*_ended(unit, ended), *sendable).order_by(Delivery.id).limit(limit)
    return await unit.all(oldest.with_for_update() if lock else oldest)


async def find_states(unit: UnitOfWork, ended: DeliveryFilter, limit: int) -> Sequence[DeliveryState]:
    """Return the oldest deliveries, without tests."""
    stated = select(Delivery.id, Delivery.event, Delivery.body.is_not(None))
    oldest = stated.where(*_ended(unit, ended)).order_by(Delivery.id).limit(limit)
    return [DeliveryState(*row) for row in await unit.rows(oldest)]


def _ended(unit: UnitOfWork, ended: DeliveryFilter) -> Sequence[ColumnElement[bool]]:
    conditions = ended.conditions(unit.actor.account_id)
    return (Delivery.account_id == unit.actor.account_id, *conditions, Delivery.is_test.is_(False))


async def find_subscriptions(unit: UnitOfWork, ids: Sequence[int]) -> dict[int, Subscription]:
    """Return subscriptions that the actor manages, by their ids."""
    return {row.id: row for row in await unit.all(_own(unit).where(records.among(Subscription.id, ids)))}


class ShownAttempt(NamedTuple):
    """An attempt for display; the body of its answer is empty for an actor that may not read that of its delivery."""

    delivery_id: int
    number: int
    status: int | None
    error: str
    address: str
    seconds: float
    headers: dict[str, Any]
    body: str
    attempted_at: datetime


async def find_attempts(unit: UnitOfWork, delivery_ids: Sequence[int]) -> Sequence[ShownAttempt]:
    """Return the attempts of deliveries, oldest first."""
    readable = case((Delivery.event.in_(ownership.names_in_reach(unit)), Attempt.body), else_="")
    shown = select(
        Attempt.delivery_id,
        Attempt.number,
        Attempt.status,
        Attempt.error,
        Attempt.address,
        Attempt.seconds,
        Attempt.headers,
        readable,
        Attempt.attempted_at,
    )
    own = shown.join(Delivery, Delivery.id == Attempt.delivery_id).where(*_of_managed(unit))
    rows = await unit.rows(own.where(Attempt.delivery_id.in_(delivery_ids)).order_by(Attempt.id))
    return [ShownAttempt(*row) for row in rows]


async def find_notices(unit: UnitOfWork, window: Window) -> Page[Notice]:
    """Return one page of the notices about subscriptions, newest first."""
    statement = select(Notice).where(Notice.account_id == unit.actor.account_id)
    if not sees_all(unit.actor):
        statement = statement.where(Notice.subscription_id.in_(_managed_ids(unit)))

    return await fetch(unit, statement, Order((Notice.id,)), window)


def _own(unit: UnitOfWork) -> Select[Subscription]:
    return select(Subscription).where(ownership.managed(unit), Subscription.status != SubscriptionStatus.removed)


def _of_managed(unit: UnitOfWork) -> Sequence[ColumnElement[bool]]:
    own = Delivery.account_id == unit.actor.account_id
    if sees_all(unit.actor):
        return (own,)
    # As an array: for a join with the few subscriptions, all of their deliveries would be read and sorted.
    return own, Delivery.subscription_id == any_(func.array(_managed_ids(unit).scalar_subquery()))


def _managed_ids(unit: UnitOfWork) -> Select[int]:
    return select(Subscription.id).where(ownership.managed(unit))

"""Send deliveries again: one, chosen ones, or all of a webhook since an instant."""

import enum
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import update

from app.domain.kernel import records
from app.domain.kernel.errors import Conflict, InvalidInput, NotFound
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.webhooks import ownership, payloads, queries, service
from app.domain.webhooks.delivery_filter import DeliveryFilter
from app.domain.webhooks.models import Delivery, DeliveryStatus, Subscription, SubscriptionStatus
from app.domain.webhooks.queries import Chosen

REPLAYABLE = (DeliveryStatus.delivered, DeliveryStatus.failed, DeliveryStatus.skipped)
MAX_CHOSEN = 200
"""Maximum number of chosen deliveries of one replay."""

MAX_REPLAYED = 10_000
"""Maximum number of deliveries of one replay since an instant, so that it ends within the time of a statement."""


class ReplayRefusal(enum.StrEnum):
    """The reason why a delivery is not sent again."""

    not_found = enum.auto()
    body_deleted = enum.auto()
    pending = enum.auto()
    canceled = enum.auto()
    webhook_disabled = enum.auto()
    event_not_received = enum.auto()
    insufficient_scope = enum.auto()


REASONS = {
    ReplayRefusal.body_deleted: "The body of this delivery has been deleted, so it cannot be replayed.",
    ReplayRefusal.pending: "This delivery is {status}: its next attempt follows by itself. Replay it once it failed.",
    ReplayRefusal.canceled: "This delivery is {status}, so there is nothing to replay.",
    ReplayRefusal.webhook_disabled: service.DISABLED,
    ReplayRefusal.event_not_received: "The webhook no longer receives {event}. Add it to its events first.",
}


@dataclass(frozen=True, slots=True)
class RefusedReplays:
    """The deliveries that are not sent again for one reason, by their ids."""

    reason: ReplayRefusal
    ids: Sequence[int]


@dataclass(frozen=True, slots=True)
class Replay:
    """The deliveries that are sent again, by their ids, and those that are not.

    `has_more` is true of a replay since an instant that leaves deliveries for the next one.
    """

    ids: Sequence[int]
    refused: Sequence[RefusedReplays]
    has_more: bool = False


async def replay(unit: UnitOfWork, delivery_id: int) -> Delivery:
    """Send a delivery again: the same id and body, a new timestamp.

    The webhook must still receive the event, and the actor must have its scope. Raises `NotFound`, `Conflict` and
    `InsufficientScope`.
    """
    delivery = await queries.get_delivery(unit, delivery_id, lock=True)
    subscription = await queries.get_subscription(unit, delivery.subscription_id, lock=True)
    refusal = _refusal(unit, delivery, subscription, has_body=delivery.body is not None)
    if refusal is ReplayRefusal.insufficient_scope:
        ownership.check_reach(unit, [payloads.find_event(delivery.event)])
    elif refusal:
        raise Conflict(reason=REASONS[refusal].format(status=delivery.status, event=delivery.event))
    await _send_again(unit, [delivery], [subscription])
    return delivery


async def preview(unit: UnitOfWork, ids: Sequence[int]) -> Replay:
    """Return the result of `replay_chosen` now; raise `NotFound` where there is none of them, and `InvalidInput`."""
    return _sort(unit, ids, *await _find(unit, ids))


async def replay_chosen(unit: UnitOfWork, ids: Sequence[int]) -> Replay:
    """Send chosen deliveries again, each as by `replay`, without those that are refused.

    Raises `NotFound` where there is none of them, and `InvalidInput`.
    """
    deliveries, subscriptions, with_body = await _find(unit, ids, lock=True)
    chosen = _sort(unit, ids, deliveries, subscriptions, with_body)
    again = [deliveries[id] for id in chosen.ids]
    woken = {delivery.subscription_id for delivery in again}
    await _send_again(unit, again, [subscriptions[id] for id in sorted(woken)])
    return chosen


async def preview_since(unit: UnitOfWork, id: int, status: DeliveryStatus, since: datetime) -> Replay:
    """Return the result of `replay_since` now; raise as it does."""
    subscription = await service.get_active(unit, id, lock=False)
    return await _choose_since(unit, subscription, status, since)


async def replay_since(unit: UnitOfWork, id: int, status: DeliveryStatus, since: datetime) -> Replay:
    """Send the oldest deliveries that failed, or were skipped, since an instant again, at most `MAX_REPLAYED`.

    Events that the webhook no longer receives are left out. Raises `InsufficientScope` when the actor lacks the scope
    of an event of the webhook.
    """
    subscription = await service.get_active(unit, id)
    chosen = await _choose_since(unit, subscription, status, since, lock=True)
    again = update(Delivery).where(records.among(Delivery.id, chosen.ids)).values(dict(_due(unit)))
    await unit.execute(again.execution_options(synchronize_session=False))
    service.wake(unit, subscription)
    await unit.save(subscription)
    return chosen


async def _choose_since(
    unit: UnitOfWork, subscription: Subscription, status: DeliveryStatus, since: datetime, *, lock: bool = False
) -> Replay:
    """Return which of the oldest deliveries are sent again, and why others of them are not."""
    if status not in {DeliveryStatus.failed, DeliveryStatus.skipped}:
        raise InvalidInput(reason="status must be failed or skipped.", field="status")
    ownership.check_reach(unit, subscription.events)
    names = payloads.names_for(subscription.kind, subscription.events)
    ended = DeliveryFilter(subscription.id, status, since=since)
    ids = await queries.find_replayable(unit, ended, names, MAX_REPLAYED + 1, lock=lock)
    reasons: dict[ReplayRefusal, list[int]] = {}
    for row in await queries.find_states(unit, ended, MAX_REPLAYED):
        if not row.has_body:
            reasons.setdefault(ReplayRefusal.body_deleted, []).append(row.id)
        elif row.event not in names:
            reasons.setdefault(ReplayRefusal.event_not_received, []).append(row.id)
    refused = [RefusedReplays(reason, reasons[reason]) for reason in ReplayRefusal if reason in reasons]
    return Replay(ids[:MAX_REPLAYED], refused, has_more=len(ids) > MAX_REPLAYED)


async def _send_again(unit: UnitOfWork, deliveries: Sequence[Delivery], subscriptions: Sequence[Subscription]) -> None:
    for delivery in deliveries:
        for name, value in _due(unit).items():
            setattr(delivery, name, value)
    for subscription in subscriptions:
        service.wake(unit, subscription)
    await unit.save(*subscriptions, *deliveries)


def _due(unit: UnitOfWork) -> Mapping[str, Any]:
    pending = {"status": DeliveryStatus.pending, "attempts": 0, "answer_status": None}
    return pending | {"next_attempt_at": unit.clock.now()}


async def _find(unit: UnitOfWork, ids: Sequence[int], *, lock: bool = False) -> Chosen:
    if not 1 <= len(ids) <= MAX_CHOSEN:
        raise InvalidInput(reason=f"ids must be 1 to {MAX_CHOSEN} deliveries.", field="ids")
    found = await queries.find_chosen(unit, ids, lock=lock)
    if not found[0]:
        others = f" or any of {len(ids) - 1} others" if ids[1:] else ""
        raise NotFound(kind="webhook delivery", id=f"{ids[0]}{others}")
    return found


def _sort(
    unit: UnitOfWork,
    ids: Sequence[int],
    deliveries: Mapping[int, Delivery],
    subscriptions: Mapping[int, Subscription],
    with_body: Set[int],
) -> Replay:
    """Return which deliveries can be sent again, and why others cannot."""
    reasons: dict[ReplayRefusal | None, list[int]] = {}
    for id in dict.fromkeys(ids):
        delivery = deliveries.get(id)
        subscription = subscriptions.get(delivery.subscription_id) if delivery else None
        reasons.setdefault(_refusal(unit, delivery, subscription, has_body=id in with_body), []).append(id)
    refused = [RefusedReplays(reason, reasons[reason]) for reason in ReplayRefusal if reason in reasons]
    return Replay(reasons.get(None, []), refused)


def _refusal(
    unit: UnitOfWork, delivery: Delivery | None, subscription: Subscription | None, *, has_body: bool
) -> ReplayRefusal | None:
    """Return the first reason why a delivery is not sent again, or None."""
    if delivery is None or subscription is None:
        return ReplayRefusal.not_found
    if not has_body:
        return ReplayRefusal.body_deleted
    if delivery.status not in REPLAYABLE:
        return ReplayRefusal(delivery.status)
    if subscription.status != SubscriptionStatus.active:
        return ReplayRefusal.webhook_disabled
    if delivery.event not in payloads.names_for(subscription.kind, subscription.events):
        return ReplayRefusal.event_not_received
    is_in_reach = ownership.is_in_reach(unit, payloads.find_event(delivery.event))
    return None if is_in_reach else ReplayRefusal.insufficient_scope

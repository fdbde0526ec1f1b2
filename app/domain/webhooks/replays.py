"""Send deliveries again: one, chosen ones, or all of a webhook since an instant."""

import enum
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from sqlalchemy import CursorResult, update

from app.domain.kernel.errors import Conflict, InvalidInput, NotFound
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.webhooks import ownership, payloads, queries, service
from app.domain.webhooks.models import Delivery, DeliveryStatus, Subscription, SubscriptionStatus
from app.domain.webhooks.queries import Chosen

REPLAYABLE = (DeliveryStatus.delivered, DeliveryStatus.failed, DeliveryStatus.skipped)
MAX_REPLAYED = 200
"""Maximum number of chosen deliveries of one replay."""


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
    ReplayRefusal.pending: "This delivery is {status}, so there is nothing to replay.",
    ReplayRefusal.canceled: "This delivery is {status}, so there is nothing to replay.",
    ReplayRefusal.webhook_disabled: service.DISABLED,
    ReplayRefusal.event_not_received: "The webhook no longer receives {event}. Add it to its events first.",
}


@dataclass(frozen=True, slots=True)
class RefusedReplays:
    """The chosen deliveries that are not sent again for one reason, by their ids."""

    reason: ReplayRefusal
    ids: Sequence[int]


@dataclass(frozen=True, slots=True)
class Replay:
    """The chosen deliveries that are sent again, by their ids, and those that are not."""

    ids: Sequence[int]
    refused: Sequence[RefusedReplays]


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


async def replay_since(unit: UnitOfWork, id: int, status: DeliveryStatus, since: datetime) -> int:
    """Send the deliveries that failed, or were skipped, since an instant again; return their number.

    Events that the webhook no longer receives are left out. Raises `InsufficientScope` when the actor lacks the scope
    of an event of the webhook.
    """
    if status not in {DeliveryStatus.failed, DeliveryStatus.skipped}:
        raise InvalidInput(reason="status must be failed or skipped.", field="status")
    subscription = await service.get_active(unit, id)
    ownership.check_reach(unit, subscription.events)
    again = update(Delivery).where(
        Delivery.subscription_id == id,
        Delivery.event.in_(payloads.names_for(subscription.kind, subscription.events)),
        Delivery.status == status,
        Delivery.created_at >= since,
        Delivery.body.is_not(None),
        Delivery.is_test.is_(False),
    )
    done = await unit.execute(again.values(dict(_due(unit))).execution_options(synchronize_session=False))
    replayed = cast("CursorResult[Any]", done).rowcount
    service.wake(unit, subscription)
    await unit.save(subscription)
    return replayed


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
    if not 1 <= len(ids) <= MAX_REPLAYED:
        raise InvalidInput(reason=f"ids must be 1 to {MAX_REPLAYED} deliveries.", field="ids")
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

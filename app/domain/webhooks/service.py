"""Subscribing, changing, rotating, testing and replaying."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypedDict, cast

from sqlalchemy import CursorResult, select
from sqlalchemy import update as update_rows

from app.domain.accounts import audit, credentials
from app.domain.accounts.audit import AuditAction
from app.domain.accounts.models import Account
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.kernel.sealing import Seal
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.webhooks import leftovers, ownership, payloads, queries, signing
from app.domain.webhooks.models import (
    Delivery,
    DeliveryStatus,
    Subscription,
    SubscriptionKind,
    SubscriptionStatus,
)
from app.domain.webhooks.poster import Poster

MAX_SUBSCRIPTIONS = 200
MAX_DESCRIPTION = 200
MAX_OVERLAP_HOURS = 72
REPLAYABLE = (DeliveryStatus.delivered, DeliveryStatus.failed, DeliveryStatus.skipped)


@dataclass(frozen=True, slots=True)
class Ports:
    """What subscribing needs: a poster that refuses dangerous URLs, and a seal for secrets."""

    poster: Poster
    seal: Seal


class RevealedSecret(NamedTuple):
    """A webhook and the secret that signs its deliveries."""

    secret: str
    webhook: Subscription


class SubscriptionFields(TypedDict, total=False):
    """What of a dashboard webhook can be changed; a field that is left out stays as it is."""

    target_url: str
    events: list[str]
    description: str
    active: bool


async def begin(unit: UnitOfWork, event: str) -> None:
    """Raise `UnknownEvent`, or `InsufficientScope` where the actor may not read what the event tells.

    Then have those who subscribe for one account wait for one another, before they take any other lock.
    """
    ownership.check_reach(unit, [payloads.find_hook(event)])
    await _take_turn(unit)


async def subscribe(
    unit: UnitOfWork, ports: Ports, event: str, target_url: str, secret: str | None = None
) -> Subscription:
    """Have one of the twelve events posted to a URL, as its flat payload; raise `InsufficientScope`."""
    return await _add(unit, ports, SubscriptionKind.hook, [payloads.find_hook(event)], target_url, secret)


async def unsubscribe(unit: UnitOfWork, id: int, kind: SubscriptionKind | None = None) -> Subscription:
    """End a subscription at once; what has not been delivered is not delivered any more.

    Raises `NotFound`, for one of another kind too where a kind is named.
    """
    subscription = await queries.get_subscription(unit, id, kind=kind, lock=True)
    _stop(unit, subscription, SubscriptionStatus.removed)
    subscription.revision += 1
    await unit.save(subscription)
    return subscription


async def create_webhook(
    unit: UnitOfWork, ports: Ports, target_url: str, topics: Sequence[str], description: str = ""
) -> Subscription:
    """Have several events, by their dotted names, posted to a URL in the Standard Webhooks envelope."""
    subscription = await _add(unit, ports, SubscriptionKind.endpoint, _topics(topics), target_url)
    subscription.description = _description(description)
    await unit.save(subscription)
    return subscription


async def update_webhook(unit: UnitOfWork, ports: Ports, id: int, fields: SubscriptionFields) -> Subscription:
    """Change a webhook. Setting `active` to true revives a disabled one; false disables it.

    What is begun from now on goes by what is new: what waits of an event that is left out is canceled, and a new URL
    is trusted as if it had never failed. An actor that changes the URL or the events takes the webhook over.
    """
    subscription = await queries.get_subscription(unit, id, lock=True)
    subscription.revision += 1
    if "events" in fields:
        subscription.events = _topics_for(subscription, fields["events"])
        await _cancel_others(unit, subscription)
    if "events" in fields or "target_url" in fields:
        await _take_over(unit, subscription)
    if "description" in fields:
        subscription.description = _description(fields["description"])
    if "target_url" in fields:
        subscription.target_url = ports.poster.check(fields["target_url"])
        _forgive(subscription)
    if "active" in fields:
        _set_active(unit, subscription, active=fields["active"])
    if subscription.status == SubscriptionStatus.active:
        _wake(unit, subscription)
    await unit.save(subscription)
    return subscription


async def take_over(unit: UnitOfWork, id: int) -> Subscription:
    """Bind a webhook to the actor's credential: from now on it ends with that, and not with what it was made with.

    Raises `InsufficientScope` where the actor may not read what the webhook tells.
    """
    subscription = await queries.get_subscription(unit, id, lock=True)
    await _take_over(unit, subscription)
    await unit.save(subscription)
    return subscription


async def rotate_secret(unit: UnitOfWork, ports: Ports, id: int, overlap_hours: int = 24) -> RevealedSecret:
    """Give a webhook a new secret, and return it; the old one signs as well for some hours."""
    if not 0 <= overlap_hours <= MAX_OVERLAP_HOURS:
        raise InvalidInput(reason=f"overlap_hours must be from 0 to {MAX_OVERLAP_HOURS}.", field="overlap_hours")
    subscription = await queries.get_subscription(unit, id, lock=True)
    secret = signing.make_secret()
    subscription.old_secret, subscription.secret = subscription.secret, ports.seal.close(secret)
    subscription.old_secret_until = unit.clock.now() + timedelta(hours=overlap_hours)
    subscription.revision += 1
    await unit.save(subscription)
    return await _reveal(unit, AuditAction.webhook_secret_rotated, subscription, secret)


async def reveal_secret(unit: UnitOfWork, ports: Ports, id: int) -> RevealedSecret:
    """Return the secret of a webhook that the actor manages, and record in the audit log that it was shown."""
    subscription = await queries.get_subscription(unit, id)
    return await _reveal(unit, AuditAction.webhook_secret_revealed, subscription, open_secret(ports, subscription))


def open_secret(ports: Ports, subscription: Subscription) -> str:
    """Return the secret that signs a webhook."""
    return ports.seal.open(subscription.secret)


async def send_test(unit: UnitOfWork, id: int, event: str | None = None) -> Delivery:
    """Post the sample of an event, marked `webhook-test: true`; of the first event where none is named.

    It goes before everything that waits, and is tried once.
    """
    subscription = await _get_active(unit, id)
    name = event or subscription.events[0]
    known = {**payloads.topics(), **{each: each for each in subscription.events}}
    if known.get(name) not in subscription.events:
        raise InvalidInput(reason=f"The webhook does not subscribe to {name}.", field="event")
    now = unit.clock.now()
    delivery = Delivery(
        account_id=subscription.account_id,
        subscription_id=subscription.id,
        event=payloads.name_for(subscription.kind, known[name]),
        webhook_id="",
        body=payloads.sample(subscription.kind, known[name], now),
        is_test=True,
        next_attempt_at=subscription.created_at,
        created_at=now,
    )
    await unit.save(delivery)
    delivery.webhook_id = f"{signing.webhook_id(now, delivery.id)}_test"
    _wake(unit, subscription)
    await unit.save(subscription, delivery)
    return delivery


async def replay(unit: UnitOfWork, delivery_id: int) -> Delivery:
    """Send a delivery again: the same id and body, a new timestamp.

    The webhook must still receive its event, which its maker may read then; so must the actor. Raises `NotFound`,
    `Conflict` and `InsufficientScope`.
    """
    delivery = await queries.get_delivery(unit, delivery_id, lock=True)
    if delivery.body is None:
        raise Conflict(reason="The body of this delivery is not kept any more, so it cannot be replayed.")
    if delivery.status not in REPLAYABLE:
        raise Conflict(reason=f"This delivery is {delivery.status}, so there is nothing to replay.")
    subscription = await _get_active(unit, delivery.subscription_id)
    if delivery.event not in _names(subscription):
        raise Conflict(reason=f"The webhook does not receive {delivery.event} any more. Add it to its events first.")
    ownership.check_reach(unit, [payloads.find_event(delivery.event)])
    delivery.status, delivery.attempts = DeliveryStatus.pending, 0
    delivery.next_attempt_at = unit.clock.now()
    _wake(unit, subscription)
    await unit.save(subscription, delivery)
    return delivery


async def replay_since(unit: UnitOfWork, id: int, status: DeliveryStatus, since: datetime) -> int:
    """Send again the events that failed, or were skipped, since an instant; return how many.

    Events that the webhook does not receive any more are left out. Raises `InsufficientScope` where the actor may not
    read those that it receives.
    """
    if status not in {DeliveryStatus.failed, DeliveryStatus.skipped}:
        raise InvalidInput(reason="status must be failed or skipped.", field="status")
    subscription = await _get_active(unit, id)
    ownership.check_reach(unit, subscription.events)
    again = update_rows(Delivery).where(
        Delivery.subscription_id == id,
        Delivery.event.in_(_names(subscription)),
        Delivery.status == status,
        Delivery.created_at >= since,
        Delivery.body.is_not(None),
        Delivery.is_test.is_(False),
    )
    due = {"status": DeliveryStatus.pending, "attempts": 0, "next_attempt_at": unit.clock.now()}
    done = await unit.execute(again.values(due).execution_options(synchronize_session=False))
    replayed = cast("CursorResult[Any]", done).rowcount
    _wake(unit, subscription)
    await unit.save(subscription)
    return replayed


async def _add(
    unit: UnitOfWork,
    ports: Ports,
    kind: SubscriptionKind,
    events: list[str],
    target_url: str,
    secret: str | None = None,
) -> Subscription:
    ownership.check_reach(unit, events)
    await _take_turn(unit)
    if await queries.count_subscriptions(unit) >= MAX_SUBSCRIPTIONS:
        raise Conflict(reason=f"An account has at most {MAX_SUBSCRIPTIONS} webhook subscriptions. Remove one first.")
    signed_with = signing.make_secret() if secret is None else signing.check_secret(secret)
    subscription = Subscription(
        account_id=unit.actor.account_id,
        kind=kind,
        target_url=ports.poster.check(target_url),
        events=events,
        maker_id=await credentials.record_maker(unit),
        secret=ports.seal.close(signed_with),
    )
    await unit.save(subscription)
    return subscription


async def _reveal(unit: UnitOfWork, action: AuditAction, subscription: Subscription, secret: str) -> RevealedSecret:
    await audit.record(unit, action, subscription.target_url, webhook_id=subscription.id)
    return RevealedSecret(secret, subscription)


async def _take_turn(unit: UnitOfWork) -> None:
    own = select(Account.id).where(Account.id == unit.actor.account_id)
    await unit.one(own.with_for_update(key_share=True))


def _set_active(unit: UnitOfWork, subscription: Subscription, *, active: bool) -> None:
    if active:
        subscription.status, subscription.has_leftovers = SubscriptionStatus.active, False
        _forgive(subscription)
    else:
        _stop(unit, subscription, SubscriptionStatus.disabled)


def _stop(unit: UnitOfWork, subscription: Subscription, status: SubscriptionStatus) -> None:
    """Send nothing more to a subscription; its pending deliveries are canceled or skipped after the commit."""
    subscription.status, subscription.wake_at, subscription.has_leftovers = status, None, True
    unit.notify(leftovers.TOPIC)


async def _take_over(unit: UnitOfWork, subscription: Subscription) -> None:
    ownership.check_reach(unit, subscription.events)
    subscription.maker_id = await credentials.replace_maker(unit, subscription.maker_id)


async def _cancel_others(unit: UnitOfWork, subscription: Subscription) -> None:
    """Cancel what waits of events that a subscription does not receive any more."""
    waiting = Delivery.subscription_id == subscription.id, Delivery.status == DeliveryStatus.pending
    others = update_rows(Delivery).where(*waiting, Delivery.event.not_in(_names(subscription)))
    await unit.execute(others.values(status=DeliveryStatus.canceled, next_attempt_at=None))


def _names(subscription: Subscription) -> list[str]:
    return [payloads.name_for(subscription.kind, event) for event in subscription.events]


def _forgive(subscription: Subscription) -> None:
    subscription.failures = subscription.trips = subscription.noticed = 0
    subscription.open_until = subscription.failing_since = None


def _wake(unit: UnitOfWork, subscription: Subscription) -> None:
    """Have the engine look at a subscription now; where the breaker is open, what is asked for is the next probe."""
    subscription.wake_at = unit.clock.now()
    if subscription.open_until:
        subscription.open_until = subscription.wake_at
    unit.notify("webhooks")


async def _get_active(unit: UnitOfWork, id: int) -> Subscription:
    subscription = await queries.get_subscription(unit, id, lock=True)
    if subscription.status != SubscriptionStatus.active:
        raise Conflict(reason="The webhook is disabled. Set it active first.")
    return subscription


def _topics(names: Sequence[str]) -> list[str]:
    events = payloads.find_topics(names)
    if not events:
        raise InvalidInput(reason="events must name at least one event.", field="events")
    return events


def _topics_for(subscription: Subscription, names: Sequence[str]) -> list[str]:
    if subscription.kind == SubscriptionKind.hook:
        raise InvalidInput(
            reason="A subscription keeps its one event. Subscribe to another, and unsubscribe this one.", field="events"
        )
    return _topics(names)


def _description(text: str) -> str:
    if len(text) > MAX_DESCRIPTION:
        raise InvalidInput(reason=f"description must have at most {MAX_DESCRIPTION} characters.", field="description")
    return text.strip()

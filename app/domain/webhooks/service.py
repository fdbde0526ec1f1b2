"""Create, update, remove and test subscriptions; rotate secrets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

from app.domain.accounts import audit, credentials
from app.domain.accounts import queries as accounts
from app.domain.accounts.audit import AuditAction
from app.domain.kernel import overlap, versions
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.kernel.sealing import Seal
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.webhooks import leftovers, ownership, payloads, queries, signing
from app.domain.webhooks.models import Delivery, Subscription, SubscriptionKind, SubscriptionStatus
from app.domain.webhooks.poster import Poster

MAX_SUBSCRIPTIONS = 200
MAX_DESCRIPTION = 200
DISABLED = "The webhook is disabled. Set it active first."


@dataclass(frozen=True, slots=True)
class Ports:
    """Ports for subscribing: a poster that refuses unsafe URLs, and a seal that encrypts secrets."""

    poster: Poster
    seal: Seal


class RevealedSecret(NamedTuple):
    """A webhook and the secret that signs its deliveries."""

    secret: str
    webhook: Subscription


class SubscriptionFields(TypedDict, total=False):
    """The fields of a dashboard webhook to change; omitted fields keep their values."""

    target_url: str
    events: list[str]
    description: str
    active: bool


async def begin(unit: UnitOfWork, event: str) -> None:
    """Check the event and its scope, then lock the account; raise `UnknownEvent` or `InsufficientScope`.

    The lock serializes subscribing for one account. Call this before taking any other lock.
    """
    ownership.check_reach(unit, [payloads.find_hook(event)])
    await accounts.lock_own(unit)


async def subscribe(
    unit: UnitOfWork, ports: Ports, event: str, target_url: str, secret: str | None = None
) -> Subscription:
    """Create a hook, which posts one of the twelve events to a URL as a flat payload; raise `InsufficientScope`."""
    return await _add(unit, ports, SubscriptionKind.hook, [payloads.find_hook(event)], target_url, secret)


async def unsubscribe(unit: UnitOfWork, id: int, kind: SubscriptionKind | None = None) -> Subscription:
    """Remove a subscription and cancel its pending deliveries.

    Raises `NotFound`, also for a subscription of another kind when `kind` is given.
    """
    subscription = await queries.get_subscription(unit, id, kind=kind, lock=True)
    _stop(unit, subscription, SubscriptionStatus.removed)
    subscription.revision += 1
    await unit.save(subscription)
    return subscription


async def create_webhook(
    unit: UnitOfWork, ports: Ports, target_url: str, topics: Sequence[str], description: str = ""
) -> Subscription:
    """Create an endpoint, which posts events, given by dotted names, in the Standard Webhooks envelope."""
    subscription = await _add(unit, ports, SubscriptionKind.endpoint, _topics(topics), target_url)
    subscription.description = _description(description)
    await unit.save(subscription)
    return subscription


async def update_webhook(
    unit: UnitOfWork, ports: Ports, id: int, fields: SubscriptionFields, expected_version: int | None = None
) -> Subscription:
    """Update a webhook. Setting `active` to true activates a disabled one; false disables it.

    Attempts that start later use the new values. Pending deliveries of removed events are canceled, and a new URL
    resets the health. An actor that changes the URL or the events becomes the webhook's creator.
    Raises `Conflict` for a version that is no longer expected.
    """
    subscription = await queries.get_subscription(unit, id, lock=True)
    versions.require("webhook", subscription.version, expected_version)
    former = _settings(subscription)
    subscription.revision += 1
    if "events" in fields:
        subscription.events = _topics_for(subscription, fields["events"])
        _clear_others(unit, subscription)
    if "events" in fields or "target_url" in fields:
        await _take_over(unit, subscription)
    if "description" in fields:
        subscription.description = _description(fields["description"])
    if "target_url" in fields:
        subscription.target_url = ports.poster.check(fields["target_url"])
        _reset_health(subscription)
    if "active" in fields:
        _set_active(unit, subscription, active=fields["active"])
    if _settings(subscription) != former:
        subscription.version += 1
    if subscription.status == SubscriptionStatus.active:
        wake(unit, subscription)
    await unit.save(subscription)
    return subscription


async def take_over(unit: UnitOfWork, id: int) -> Subscription:
    """Make the actor's credential the webhook's creator, so that the webhook ends with that credential.

    Raises `InsufficientScope` when the actor lacks the scope of an event of the webhook.
    """
    subscription = await queries.get_subscription(unit, id, lock=True)
    await _take_over(unit, subscription)
    await unit.save(subscription)
    return subscription


async def rotate_secret(unit: UnitOfWork, ports: Ports, id: int, overlap_hours: int = 24) -> RevealedSecret:
    """Replace the secret of a webhook and return the new one; the old one also signs for `overlap_hours`."""
    until = overlap.end(unit.clock.now(), overlap_hours)
    subscription = await queries.get_subscription(unit, id, lock=True)
    secret = signing.make_secret()
    subscription.old_secret, subscription.secret = subscription.secret, ports.seal.close(secret)
    subscription.old_secret_until = until
    subscription.revision += 1
    await unit.save(subscription)
    return await _reveal(unit, AuditAction.webhook_secret_rotated, subscription, secret)


async def reveal_secret(unit: UnitOfWork, ports: Ports, id: int) -> RevealedSecret:
    """Return the secret of a webhook that the actor manages, and record an audit entry."""
    subscription = await queries.get_subscription(unit, id)
    return await _reveal(unit, AuditAction.webhook_secret_revealed, subscription, open_secret(ports, subscription))


def open_secret(ports: Ports, subscription: Subscription) -> str:
    """Return the secret that signs a webhook."""
    return ports.seal.open(subscription.secret)


async def send_test(unit: UnitOfWork, id: int, event: str | None = None) -> Delivery:
    """Queue the sample of an event, by default of the webhook's first, marked `webhook-test: true`.

    It is sent before all pending deliveries and attempted once.
    """
    subscription = await get_active(unit, id)
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
    wake(unit, subscription)
    await unit.save(subscription, delivery)
    return delivery


def wake(unit: UnitOfWork, subscription: Subscription) -> None:
    """Make a subscription due now; when the breaker is open, the next delivery is the probe."""
    subscription.wake_at = unit.clock.now()
    if subscription.open_until:
        subscription.open_until = subscription.wake_at
    unit.notify("webhooks")


async def get_active(unit: UnitOfWork, id: int, *, lock: bool = True) -> Subscription:
    """Return a subscription, locked for a change with `lock`; raise `Conflict` for a disabled one, and `NotFound`."""
    subscription = await queries.get_subscription(unit, id, lock=lock)
    if subscription.status != SubscriptionStatus.active:
        raise Conflict(reason=DISABLED)
    return subscription


async def _add(
    unit: UnitOfWork,
    ports: Ports,
    kind: SubscriptionKind,
    events: list[str],
    target_url: str,
    secret: str | None = None,
) -> Subscription:
    ownership.check_reach(unit, events)
    await accounts.lock_own(unit)
    if await queries.count_subscriptions(unit) >= MAX_SUBSCRIPTIONS:
        raise Conflict(reason=f"An account has at most {MAX_SUBSCRIPTIONS} webhook subscriptions. Remove one first.")
    signed_with = signing.make_secret() if secret is None else signing.check_secret(secret)
    subscription = Subscription(
        account_id=unit.actor.account_id,
        kind=kind,
        target_url=ports.poster.check(target_url),
        events=events,
        creator_id=await credentials.record_creator(unit),
        secret=ports.seal.close(signed_with),
    )
    await unit.save(subscription)
    return subscription


async def _reveal(unit: UnitOfWork, action: AuditAction, subscription: Subscription, secret: str) -> RevealedSecret:
    await audit.record(unit, action, subscription.target_url, webhook_id=subscription.id)
    return RevealedSecret(secret, subscription)


def _settings(subscription: Subscription) -> tuple[object, ...]:
    """Return all that `update_webhook` changes."""
    return subscription.target_url, tuple(subscription.events), subscription.description, subscription.status


def _set_active(unit: UnitOfWork, subscription: Subscription, *, active: bool) -> None:
    if active:
        subscription.status = SubscriptionStatus.active
        _clear_others(unit, subscription)
        _reset_health(subscription)
    else:
        _stop(unit, subscription, SubscriptionStatus.disabled)


def _stop(unit: UnitOfWork, subscription: Subscription, status: SubscriptionStatus) -> None:
    """Send nothing more to a subscription; its pending deliveries are canceled or skipped after the commit."""
    subscription.status, subscription.wake_at, subscription.has_leftovers = status, None, True
    unit.notify(leftovers.TOPIC)


async def _take_over(unit: UnitOfWork, subscription: Subscription) -> None:
    ownership.check_reach(unit, subscription.events)
    subscription.creator_id = await credentials.replace_creator(unit, subscription.creator_id)


def _clear_others(unit: UnitOfWork, subscription: Subscription) -> None:
    """Cancel the pending deliveries of events that a subscription no longer receives, after the commit."""
    subscription.has_leftovers = True
    unit.notify(leftovers.TOPIC)


def _reset_health(subscription: Subscription) -> None:
    subscription.failures = subscription.trips = subscription.noticed = 0
    subscription.open_until = subscription.failing_since = None


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

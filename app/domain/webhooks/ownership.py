"""Ownership of subscriptions: which ones an actor manages, and their end with the creator's credential."""

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import TypeVar

from sqlalchemy import ColumnElement

from app.db.engine import Connection, Pool
from app.domain.accounts import credentials, scopes
from app.domain.accounts.credentials import own_creators
from app.domain.kernel.events import EVENTS
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.webhooks.leases import end
from app.domain.webhooks.models import Subscription, SubscriptionStatus
from app.domain.webhooks.rows import Owned

S = TypeVar("S", bound=Owned)

WHY_ENDED = (
    "was removed, because the credential that created it has ended: its API key was revoked or expired, its "
    "application was disconnected, or its user was removed"
)

HOLD = "SELECT FROM webhook_subscriptions WHERE id = $1 FOR NO KEY UPDATE"
FIND_ENDED = credentials.find_ended("webhook_subscriptions")


def managed(unit: UnitOfWork) -> ColumnElement[bool]:
    """Return the condition for the subscriptions that the actor sees and manages.

    An actor that may change the account manages all of them; others manage those that their own credential created.
    """
    own = Subscription.account_id == unit.actor.account_id
    return own if credentials.sees_all(unit.actor) else own & Subscription.creator_id.in_(own_creators(unit.actor))


def check_reach(unit: UnitOfWork, events: Sequence[str]) -> None:
    """Raise `InsufficientScope` for events whose scope the actor lacks."""
    scopes.require(unit.actor, {EVENTS[event].scope for event in events})


def is_in_reach(unit: UnitOfWork, event: str) -> bool:
    """Return whether the actor has the scope of an event."""
    return EVENTS[event].scope in unit.actor.scopes


def names_in_reach(unit: UnitOfWork) -> frozenset[str]:
    """Return the names, as deliveries have them, of the events whose scope the actor has."""
    return _names_of(unit.actor.scopes)


@lru_cache(maxsize=256)
def _names_of(held: frozenset[str]) -> frozenset[str]:
    return frozenset(
        name for own, event in EVENTS.items() if event.scope in held for name in (own, event.topic) if name
    )


async def find_orphans(connection: Connection | Pool, ids: Sequence[int], now: datetime) -> frozenset[int]:
    """Return the ids of the subscriptions whose creator's credential has ended."""
    return frozenset(row["root"] for row in await connection.fetch(FIND_ENDED, ids, now)) if ids else frozenset()


async def end_orphans(connection: Connection, subscriptions: Sequence[S], now: datetime) -> Sequence[S]:
    """End the subscriptions whose creator's credential has ended, and notify the account; return the others."""
    made = [each.id for each in subscriptions if each.creator_id]
    found = await find_orphans(connection, made, now)
    ended = {each.id for each in subscriptions if each.id in found and await _end_orphan(connection, each, now)}
    return [each for each in subscriptions if each.id not in ended]


async def _end_orphan(connection: Connection, subscription: Owned, now: datetime) -> bool:
    """End a subscription under its lock, and return True, unless it has just been taken over."""
    async with connection.transaction():
        await connection.execute(HOLD, subscription.id)
        if not await find_orphans(connection, [subscription.id], now):
            return False
        await end(connection, subscription, SubscriptionStatus.removed, WHY_ENDED)
        return True

"""Serialization of events for subscribers: deliveries, samples and tests."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson

from app.domain.kernel.events import EVENTS, timestamp
from app.domain.webhooks.errors import UnknownEvent
from app.domain.webhooks.models import SubscriptionKind


def serialize(kind: str, event: str, payload: Mapping[str, Any], at: datetime) -> bytes:
    """Return the body of a delivery: the flat payload, or the Standard Webhooks envelope `{type, timestamp, data}`."""
    if kind == SubscriptionKind.hook:
        return orjson.dumps(payload)
    return orjson.dumps({"type": name_for(kind, event), "timestamp": timestamp(at), "data": payload})


def name_for(kind: str, event: str) -> str:
    """Return the name of an event for a kind of subscription: plain for a hook, dotted for an endpoint."""
    return event if kind == SubscriptionKind.hook else EVENTS[event].topic or event


def names_for(kind: str, events: Sequence[str]) -> list[str]:
    """Return the names of the events that a subscription receives, as its deliveries have them."""
    return [name_for(kind, event) for event in events]


def sample(kind: str, name: str, at: datetime) -> bytes:
    """Return the body of a delivery with the example of an event."""
    event = EVENTS[name]
    return serialize(kind, name, event(**event.example).payload(), at)


def find_hook(name: str) -> str:
    """Return the name of one of the twelve events; raise `UnknownEvent` for any other."""
    if name not in hook_names():
        raise UnknownEvent(event=name, known=", ".join(hook_names()), field="event")
    return name


def find_topics(names: Sequence[str]) -> list[str]:
    """Return the events of dotted names, without duplicates; raise `UnknownEvent` for an unknown name."""
    known = topics()
    for name in names:
        if name not in known:
            raise UnknownEvent(event=name, known=", ".join(known), field="events")
    return list(dict.fromkeys(known[name] for name in names))


def find_event(name: str) -> str:
    """Return the event of a plain or dotted name."""
    return topics().get(name, name)


def hook_names() -> list[str]:
    """Return the plain names of the events that a hook can receive."""
    return [name for name, event in EVENTS.items() if event.subscribable]


def topics() -> dict[str, str]:
    """Return the events of dashboard webhooks by their dotted names."""
    return {event.topic: name for name, event in EVENTS.items() if event.topic}

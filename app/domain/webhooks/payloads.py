"""What subscribers receive: one serializer for live deliveries, samples and tests."""

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
    """Return the name that a subscription of a kind has for an event: the plain one, or the dotted one."""
    return event if kind == SubscriptionKind.hook else EVENTS[event].topic or event


def sample(kind: str, name: str, at: datetime) -> bytes:
    """Return the example of an event as it would be delivered."""
    event = EVENTS[name]
    return serialize(kind, name, event(**event.example).payload(), at)


def find_hook(name: str) -> str:
    """Return the name of one of the twelve events; raise `UnknownEvent` for any other."""
    if name not in hook_names():
        raise UnknownEvent(event=name, known=", ".join(hook_names()), field="event")
    return name


def find_topics(names: Sequence[str]) -> list[str]:
    """Return the events that dotted names stand for; raise `UnknownEvent` for one that stands for none."""
    known = topics()
    for name in names:
        if name not in known:
            raise UnknownEvent(event=name, known=", ".join(known), field="events")
    return list(dict.fromkeys(known[name] for name in names))


def find_event(name: str) -> str:
    """Return the event that a subscription of either kind has a name for."""
    return topics().get(name, name)


def hook_names() -> list[str]:
    """Return the names that a single subscription can ask for."""
    return [name for name, event in EVENTS.items() if event.subscribable]


def topics() -> dict[str, str]:
    """Return the dotted names of dashboard webhooks, and the event that each one stands for."""
    return {event.topic: name for name, event in EVENTS.items() if event.topic}

"""Reads and adds recorded events, the outbox, live updates and idempotency keys."""

from datetime import datetime
from typing import Any

from tests.factories.tables import Rows, Source, open_pool

EVENTS = Rows("events")
OUTBOX = Rows("outbox")
FAILED_REACTIONS = Rows("failed_reactions")
LIVE_UPDATES = Rows("live_updates")
IDEMPOTENCY_KEYS = Rows("idempotency_keys")


async def event_names(source: Source, *names: str) -> list[str]:
    """Return the names of the events with the given names, in order."""
    recorded = "SELECT name FROM events WHERE name = ANY($1) ORDER BY id"
    return [row["name"] for row in await open_pool(source).fetch(recorded, names)]


async def payloads(source: Source, name: str) -> list[dict[str, Any]]:
    """Return the payloads of the events of a name, in order."""
    return await EVENTS.where(name=name).read(source, "payload")


async def record(
    source: Source, account_id: int, name: str, contact_id: int, payload: dict[str, Any] | None = None
) -> int:
    """Record an event that waits to be dispatched; return its id."""
    return await EVENTS.insert(source, account_id=account_id, name=name, contact_id=contact_id, payload=payload or {})


async def record_many(source: Source, account_id: int, count: int) -> None:
    """Record that the conversations of contacts 1, 2, 3 and so on changed."""
    recorded = (
        "INSERT INTO events (account_id, name, contact_id, payload)"
        " SELECT $1, 'conversation_changed', n, '{}' FROM generate_series(1, $2::int) n"
    )
    await open_pool(source).execute(recorded, account_id, count)


async def keep_answer(source: Source, account_id: int, key: str, at: datetime) -> None:
    """Store the answer of a request with an idempotency key, as of an instant."""
    await IDEMPOTENCY_KEYS.insert(source, account_id=account_id, key=key, fingerprint="", answer={}, created_at=at)

"""Reads and changes subscriptions, deliveries and attempts."""

from typing import Any

from tests.factories.tables import Rows, Source, open_pool

WEBHOOK_ATTEMPTS = Rows("webhook_attempts")
WEBHOOK_DELIVERIES = Rows("webhook_deliveries")
WEBHOOK_HOURS = Rows("webhook_hours")
WEBHOOK_NOTICES = Rows("webhook_notices")
WEBHOOK_SUBSCRIPTIONS = Rows("webhook_subscriptions")


async def add_subscription(source: Source, account_id: int, **values: Any) -> int:
    """Add an active webhook without events; return its id."""
    defaults = {"kind": "webhook", "target_url": "https://example.com", "events": [], "secret": b""}
    return await WEBHOOK_SUBSCRIPTIONS.insert(source, account_id=account_id, **(defaults | values))


async def add_delivery(source: Source, account_id: int, subscription_id: int, **values: Any) -> int:
    """Add a pending delivery; return its id."""
    defaults = {"event": "", "webhook_id": "", "body": b"{}"}
    return await WEBHOOK_DELIVERIES.insert(
        source, account_id=account_id, subscription_id=subscription_id, **(defaults | values)
    )


async def add_attempt(source: Source, delivery_id: int, **values: Any) -> int:
    """Add a first attempt with the response 200; return its id."""
    defaults = {"number": 1, "status": 200, "error": "", "address": "", "seconds": 0.0, "headers": {}, "body": ""}
    return await WEBHOOK_ATTEMPTS.insert(source, delivery_id=delivery_id, **(defaults | values))


async def multiply_subscription(source: Source, total: int) -> None:
    """Copy the only subscription until there are `count`."""
    copied = (
        "INSERT INTO webhook_subscriptions (account_id, kind, target_url, events, secret)"
        " SELECT account_id, kind, target_url, events, secret FROM webhook_subscriptions, generate_series(2, $1::int)"
    )
    await open_pool(source).execute(copied, total)

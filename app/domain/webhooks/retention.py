"""Retention rules for deliveries, counts of attempts, notices and removed subscriptions."""

from datetime import timedelta

from app.domain.kernel.retention import Rule, batch_of

EMPTY_BODIES = f"""
UPDATE webhook_deliveries SET body = NULL
WHERE {batch_of("webhook_deliveries", "created_at < $1 AND body IS NOT NULL AND status <> 'pending'")}
"""
DELETE_DELIVERIES = f"""
DELETE FROM webhook_deliveries
WHERE {batch_of("webhook_deliveries", "created_at < $1 AND status <> 'pending'")}
"""
DELETE_SUBSCRIPTIONS = """
DELETE FROM webhook_subscriptions s WHERE status = 'removed' AND created_at < $1
  AND NOT EXISTS (SELECT FROM webhook_deliveries WHERE subscription_id = s.id)
"""


COUNTED_FOR = timedelta(days=2)
"""The time for which the counts of attempts are kept, longer than their figures look back."""

DELIVERED_EVENTS = "SELECT event_id FROM webhook_deliveries WHERE event_id >= $1 AND event_id < $2"
"""The ids of events that have deliveries: the erasure of a contact finds its deliveries by its events."""


def make_rules(payloads: timedelta, metadata: timedelta) -> tuple[Rule, ...]:
    """Return the rules: `payloads` for the bodies of deliveries, `metadata` for the rest. Pending ones are kept."""
    return (
        Rule(EMPTY_BODIES, payloads),
        Rule(DELETE_DELIVERIES, metadata),
        Rule("DELETE FROM webhook_notices WHERE created_at < $1", metadata),
        Rule(DELETE_SUBSCRIPTIONS, metadata),
        Rule(f"DELETE FROM webhook_hours WHERE {batch_of('webhook_hours', 'hour < $1')}", COUNTED_FOR),
    )

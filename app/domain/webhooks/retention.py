"""Retention rules for deliveries, notices and removed subscriptions."""

from datetime import timedelta

from app.domain.kernel.retention import Rule

EMPTY_BODIES = """
UPDATE webhook_deliveries SET body = NULL WHERE created_at < $1 AND body IS NOT NULL AND status <> 'pending'
"""
DELETE_SUBSCRIPTIONS = """
DELETE FROM webhook_subscriptions s WHERE status = 'removed' AND created_at < $1
  AND NOT EXISTS (SELECT FROM webhook_deliveries WHERE subscription_id = s.id)
"""


def make_rules(payloads: timedelta, metadata: timedelta) -> tuple[Rule, ...]:
    """Return the rules: `payloads` for the bodies of deliveries, `metadata` for the rest. Pending ones are kept."""
    return (
        Rule(EMPTY_BODIES, payloads),
        Rule("DELETE FROM webhook_deliveries WHERE created_at < $1 AND status <> 'pending'", metadata),
        Rule("DELETE FROM webhook_notices WHERE created_at < $1", metadata),
        Rule(DELETE_SUBSCRIPTIONS, metadata),
    )

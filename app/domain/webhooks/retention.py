"""Retention rules for deliveries, counts of attempts, notices and removed subscriptions."""

from datetime import timedelta

from app.db.partitions import History
from app.domain.kernel.retention import HistoryRule, Rule, batch_of

HISTORY = History("webhook_deliveries_id_seq", ("webhook_deliveries",))
ENDED = "status <> 'pending'"

DELETE_SUBSCRIPTIONS = """
DELETE FROM webhook_subscriptions s WHERE status = 'removed' AND created_at < $1
  AND NOT EXISTS (SELECT FROM webhook_deliveries WHERE subscription_id = s.id)
"""


COUNTED_FOR = timedelta(days=2)
"""The time for which the counts of attempts are kept, longer than their figures look back."""

DELIVERED_EVENTS = "SELECT event_id FROM webhook_deliveries WHERE event_id >= $1 AND event_id < $2"
"""The ids of events that have deliveries: the erasure of a contact finds its deliveries by its events."""


def make_history_rules(payloads: timedelta, metadata: timedelta) -> tuple[HistoryRule, ...]:
    """Return the rules of deliveries: `payloads` for their bodies, `metadata` for the rest. Pending ones are kept."""
    return (
        HistoryRule(HISTORY, "webhook_deliveries", payloads, which=f"{ENDED} AND body IS NOT NULL", emptied="body"),
        HistoryRule(HISTORY, "webhook_deliveries", metadata, which=ENDED),
    )


def make_rules(metadata: timedelta) -> tuple[Rule, ...]:
    """Return the rules of the other rows of the area, all but the counts of attempts kept for `metadata`."""
    return (
        Rule("DELETE FROM webhook_notices WHERE created_at < $1", metadata),
        Rule(DELETE_SUBSCRIPTIONS, metadata),
        Rule(f"DELETE FROM webhook_hours WHERE {batch_of('webhook_hours', 'hour < $1')}", COUNTED_FOR),
    )

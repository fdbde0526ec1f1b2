"""Age of the oldest work in each queue of the area, in seconds at `$1`."""

OLDEST = {
    "webhooks": "SELECT extract(epoch FROM $1 - min(wake_at)) FROM webhook_subscriptions"
    " WHERE status = 'active' AND (leased_until IS NULL OR leased_until <= $1)",
}

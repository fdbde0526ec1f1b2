"""Age of the oldest work in each queue of the area, in seconds at `$1`."""

OLDEST = {
    "events": "SELECT extract(epoch FROM $1 - created_at) FROM events WHERE id = (SELECT min(event_id) FROM outbox)",
}

"""Age of the oldest work in each queue of the area, in seconds at `$1`."""

OLDEST = {
    "events": "SELECT extract(epoch FROM $1 - min(created_at)) FROM events WHERE dispatched_at IS NULL",
}

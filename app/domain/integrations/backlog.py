"""Age of the oldest work in each queue of the area, in seconds at `$1`, without the work of paused integrations."""

OLDEST = {
    "integrations": "SELECT extract(epoch FROM $1 - min(e.due_at)) FROM integration_events e"
    " JOIN integrations i ON i.id = e.integration_id WHERE e.status = 'waiting' AND i.status = 'active'",
    "booking_texts": "SELECT extract(epoch FROM $1 - min(t.due_at)) FROM booking_texts t"
    " JOIN bookings b ON b.id = t.booking_id JOIN integrations i ON i.id = b.integration_id"
    " WHERE t.status = 'waiting' AND i.status = 'active'",
}

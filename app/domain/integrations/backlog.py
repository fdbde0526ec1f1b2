"""Age of the oldest work in each queue of the area, in seconds at `$1`, without the work of paused integrations."""

OLDEST = {
    "integrations": "SELECT extract(epoch FROM $1 - min(first.due_at)) FROM integrations i CROSS JOIN LATERAL"
    " (SELECT e.due_at FROM integration_events e WHERE e.integration_id = i.id AND e.status = 'waiting'"
    " ORDER BY e.due_at LIMIT 1) first WHERE i.status = 'active'",
    "booking_texts": "SELECT extract(epoch FROM $1 - (SELECT t.due_at"
    " FROM (SELECT due_at, booking_id FROM booking_texts WHERE status = 'waiting' ORDER BY due_at OFFSET 0) t"
    " JOIN bookings b ON b.id = t.booking_id JOIN integrations i ON i.id = b.integration_id AND i.status = 'active'"
    " ORDER BY t.due_at LIMIT 1))",
}

"""Age of the oldest work in each queue of the area, in seconds at `$1`."""

OLDEST = {
    "sequences": "SELECT extract(epoch FROM $1 - min(next_send_at)) FROM sequence_enrollments"
    " WHERE status = 'active' AND NOT is_set_aside",
}

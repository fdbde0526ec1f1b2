"""Age of the oldest work in each queue of the area, in seconds at `$1`."""

OLDEST = {
    "campaigns": "SELECT extract(epoch FROM $1 - min(due_at)) FROM campaigns WHERE due_at IS NOT NULL",
}

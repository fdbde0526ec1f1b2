"""Age of the oldest work in each queue of the area, in seconds at `$1`."""

OLDEST = {
    "sandbox": "SELECT extract(epoch FROM $1 - min(due_at)) FROM sandbox_callbacks",
}

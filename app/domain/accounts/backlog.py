"""Age of the oldest work in each queue of the area, in seconds at `$1`."""

OLDEST = {
    "deletions": "SELECT extract(epoch FROM $1 - min(deletion_at)) FROM accounts WHERE deletion_at IS NOT NULL",
}

"""Age of the oldest work in each queue of the area, in seconds at `$1`."""

OLDEST = {
    "messages": "SELECT extract(epoch FROM $1 - min(due_at)) FROM outgoing WHERE claimed_until IS NULL",
    "reconcile": "SELECT extract(epoch FROM $1 - min(claimed_until)) FROM outgoing WHERE claimed_until IS NOT NULL",
    "receipts": "SELECT extract(epoch FROM $1 - min(received_at)) FROM unmatched_receipts",
}

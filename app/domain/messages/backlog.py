"""Age of the oldest work in each queue of the area, in seconds at `$1`; of a text since it was accepted."""

AGE = """
SELECT extract(epoch FROM $1 - created_at) FROM messages WHERE id =
  (SELECT message_id FROM outgoing WHERE claimed_until {} ORDER BY message_id LIMIT 1)
"""

OLDEST = {
    "messages": AGE.format("IS NULL"),
    "reconcile": AGE.format("IS NOT NULL"),
    "receipts": "SELECT extract(epoch FROM $1 - min(received_at)) FROM unmatched_receipts",
}

"""SQL fragments on conversations for the statements of other areas."""

TOUCH = """
INSERT INTO conversations (account_id, contact_id, last_message_at, created_at)
SELECT DISTINCT account_id, contact_id, $3::timestamptz, $3::timestamptz
FROM unnest($1::bigint[], $2::bigint[]) AS r(account_id, contact_id) ORDER BY account_id, contact_id
ON CONFLICT (contact_id) DO UPDATE SET last_message_at = excluded.last_message_at
RETURNING id, contact_id, xmax = 0 AS is_new
"""
"""Open the conversations of the accounts `$1` with the contacts `$2`, or set `last_message_at` to `$3`."""

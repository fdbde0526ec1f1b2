"""SQL on recorded events, from which the areas compose their statements."""

INSERT = """
INSERT INTO events (account_id, name, contact_id, payload, request_id)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::json[], $5::text[])
"""

FIND_UNDISPATCHED = """
SELECT id, account_id, name, contact_id, payload, created_at FROM events
WHERE dispatched_at IS NULL ORDER BY id LIMIT $1
"""

# The subquery keeps the positions in the order of the array; the lock keeps them in the order of the batches.
MARK_DISPATCHED = """
UPDATE events SET dispatched_at = $3, position = placed.position
FROM (
  SELECT id, CASE WHEN is_live THEN nextval('event_positions') END AS position
  FROM unnest($1::bigint[], $2::boolean[]) AS event(id, is_live)
) placed
WHERE events.id = placed.id
"""

IS_DUE = "SELECT EXISTS (SELECT FROM events WHERE dispatched_at IS NULL)"

NEWEST_POSITION = "SELECT coalesce(max(position), 0) FROM events WHERE account_id = $1"

IS_FAR = "SELECT EXISTS (SELECT FROM events WHERE account_id = $1 AND position > $2 ORDER BY position OFFSET $3)"
"""Tell whether more than `$3` events of the account `$1` that are shown live follow the position `$2`."""

READ_LIVE = """
SELECT asked.account_id, asked.position AS after, live.*
FROM unnest($1::bigint[], $2::bigint[]) AS asked(account_id, position) CROSS JOIN LATERAL (
  SELECT position, name, created_at, contact_id,
    (CASE name WHEN 'new_message' THEN payload->>'id' ELSE payload->>'message_id' END)::bigint AS message_id
  FROM events WHERE events.account_id = asked.account_id AND events.position > asked.position
  ORDER BY position LIMIT $3
) live ORDER BY live.position
"""
"""Read the first `$3` events that are shown live of each account `$1` after its position `$2`."""

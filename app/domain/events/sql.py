"""SQL on recorded events and the outbox for the statements of the areas."""

from app.domain.kernel.sql import find_values

FIND_CAUSES = """
SELECT id, request_id FROM events WHERE id = ANY($1::bigint[]) AND starts_with(request_id, $2)
"""
"""Find those of the events `$1` whose request id begins with `$2`."""

HOLDS = 7_236_452
"""Seed of the keys of this area's advisory locks, one for each account."""

KEY = f"hashint8extended({{account_id}}, {HOLDS})"

# Forces index scans, also if the tables were small when the statements were planned.
BEGIN = "SELECT set_config('enable_seqscan', 'off', true), set_config('lock_timeout', '100ms', true)"
"""Precedes the statements of a dispatch, and limits their waits for locks."""

TAKE_ACCOUNTS = f"""
WITH RECURSIVE {find_values("outbox", "account_id", "account_id > $2")}
SELECT account_id FROM waiting WHERE account_id IS NOT NULL AND CASE
  WHEN account_id <> ALL($1::bigint[]) THEN pg_try_advisory_xact_lock({KEY.format(account_id="account_id")}) END
LIMIT $3
"""
"""Locks up to `$3` accounts with waiting events, after `$2`, not in `$1`, and not locked by another transaction."""

HOLD_ACCOUNT = f"SELECT pg_advisory_xact_lock({KEY.format(account_id=':account_id')})"
"""Prevents the dispatch of an account's events until the transaction ends."""

FIND_EVENTS = """
SELECT o.event_id, o.account_id, e.name, e.contact_id, e.payload, e.created_at
FROM unnest($1::bigint[]) AS taken(account_id)
CROSS JOIN LATERAL (
  SELECT account_id, event_id FROM outbox WHERE account_id = taken.account_id ORDER BY event_id LIMIT $2
) o
LEFT JOIN LATERAL (SELECT * FROM events WHERE id = o.event_id LIMIT 1) e ON true ORDER BY o.event_id
"""
"""Returns the first `$2` waiting events of each account `$1`, in order; only the ids of a deleted event."""

DELETE = """
DELETE FROM outbox o USING unnest($1::text::bigint[], $2::text::bigint[]) AS done(account_id, event_id)
WHERE o.account_id = done.account_id AND o.event_id = done.event_id
"""

IS_DUE = f"""
WITH RECURSIVE {find_values("outbox", "account_id", "true")}
SELECT EXISTS (SELECT FROM waiting WHERE account_id IS NOT NULL AND account_id <> ALL($1::bigint[]))
"""
"""Tells whether an account that is not in `$1` has waiting events."""

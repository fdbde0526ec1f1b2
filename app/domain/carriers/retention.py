"""Rules of retention: the counts of connections, look-ups, and the credentials before the last rotation."""

from datetime import timedelta

from app.domain.carriers.models import REVISIONS
from app.domain.kernel.retention import Rule, batch_of

COUNTED_FOR = timedelta(days=7)
"""The time for which the counts of a connection are kept; the last ones of each result are kept for longer."""

IS_REPEATED = """minute < $1 AND EXISTS (
  SELECT FROM connection_minutes n WHERE n.connection_id = connection_minutes.connection_id
    AND n.result = connection_minutes.result AND n.minute > connection_minutes.minute
)"""

FORGET_CREDENTIALS = f"""
UPDATE carrier_connections
SET previous_credentials = NULL, previous_until = NULL, revision = nextval('{REVISIONS.name}')
WHERE previous_until < $1
"""
"""Delete credentials that verify no callback any more; with the new revision, processes drop them as well."""

LOOKED_UP_FOR = timedelta(days=30)
"""The time for which the statements of a carrier about a phone are kept, and not asked for again."""

RULES = (
    Rule(f"DELETE FROM carrier_lookups WHERE {batch_of('carrier_lookups', 'looked_up_at < $1')}", LOOKED_UP_FOR),
    Rule(f"DELETE FROM connection_minutes WHERE {batch_of('connection_minutes', IS_REPEATED)}", COUNTED_FOR),
    Rule(FORGET_CREDENTIALS, timedelta()),
)

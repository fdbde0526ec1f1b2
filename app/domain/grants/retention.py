"""Rules of retention for grants, and for clients that never received a token."""

from datetime import timedelta

from app.domain.kernel.retention import Rule

UNUSED_FOR = timedelta(days=30)
UNUSED_GRANT_FOR = timedelta(days=1)
RECORD = timedelta(days=90)
MAX_UNUSED = 10_000
MAX_UNUSED_GRACE = timedelta(hours=1)

DELETE_UNUSED = """
DELETE FROM oauth_clients WHERE created_at < $1 AND id IN (
  SELECT id FROM oauth_clients WHERE kind <> 'managed' AND last_used_at IS NULL
  ORDER BY created_at DESC, id DESC OFFSET {max_unused:d}
)
"""


def make_rules(max_unused: int = MAX_UNUSED) -> tuple[Rule, ...]:
    """Return the rules. A client that never received a token is kept for 30 days.

    Of more than `max_unused` such clients the newest are kept, and those registered in the last hour.
    """
    unused = "DELETE FROM oauth_clients WHERE kind <> 'managed' AND last_used_at IS NULL AND created_at < $1"
    return (
        Rule("DELETE FROM oauth_grants WHERE last_used_at IS NULL AND created_at < $1", UNUSED_GRANT_FOR),
        Rule("DELETE FROM oauth_grants WHERE least(revoked_at, expires_at) < $1", RECORD),
        Rule(unused, UNUSED_FOR),
        Rule(DELETE_UNUSED.format(max_unused=max_unused), MAX_UNUSED_GRACE),
    )

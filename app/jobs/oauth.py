"""Forgetting what applications asked for, were given and never used."""

from datetime import timedelta

from app.db.engine import Database
from app.domain.kernel.clock import Clock
from app.jobs.job import Job

UNUSED_FOR = timedelta(days=30)
EVIDENCE = timedelta(days=1)
"""How long codes and refresh tokens outlast their end, so that one used again is known for what it is."""

RECORD = timedelta(days=90)
PURGES = {
    "DELETE FROM oauth_requests WHERE expires_at < $1": timedelta(0),
    "DELETE FROM oauth_codes WHERE expires_at < $1": EVIDENCE,
    "DELETE FROM oauth_refresh_tokens WHERE expires_at < $1": EVIDENCE,
    "DELETE FROM oauth_grants WHERE last_used_at IS NULL AND created_at < $1": EVIDENCE,
    "DELETE FROM oauth_grants WHERE least(revoked_at, expires_at) < $1": RECORD,
    "DELETE FROM oauth_clients WHERE kind <> 'managed' AND last_used_at IS NULL AND created_at < $1": UNUSED_FOR,
    "DELETE FROM oauth_signing_keys WHERE expires_at < $1": timedelta(0),
}
MAX_UNUSED = 10_000
MAX_UNUSED_GRACE = timedelta(hours=1)
FORGET_UNUSED = """
DELETE FROM oauth_clients WHERE created_at < $1 AND id IN (
  SELECT id FROM oauth_clients WHERE kind <> 'managed' AND last_used_at IS NULL
  ORDER BY created_at DESC, id DESC OFFSET $2
)
"""
"""Keeps the newest of the clients that never got a token, and those that may be about to get one."""

EVERY = 600.0


def purge(database: Database, clock: Clock) -> Job:
    """Return the job that forgets: what is over, and clients that registered and never got a token for 30 days.

    Of more than `MAX_UNUSED` such clients only the newest are kept, and those of the last hour.
    """

    async def run() -> bool:
        for statement, kept in PURGES.items():
            await database.pool.execute(statement, clock.now() - kept)
        await database.pool.execute(FORGET_UNUSED, clock.now() - MAX_UNUSED_GRACE, MAX_UNUSED)
        return False

    async def due() -> bool:
        return True

    return Job("oauth", run, due, every=EVERY)

"""Forgetting what was kept for a time."""

from datetime import timedelta

from app.db.engine import Database
from app.domain.erasure.service import REPEATED_FOR
from app.domain.kernel.clock import Clock
from app.domain.kernel.idempotency import KEPT, OWN, OWN_KEPT
from app.domain.messages.receipts import UNMATCHED_FOR
from app.jobs.job import Job

SANDBOX_FOR = timedelta(days=30)
UNUSABLE_FOR = timedelta(days=30)
"""How long a callback is kept that could not be used."""
PURGES = {
    f"DELETE FROM idempotency_keys WHERE created_at < $1 AND NOT starts_with(key, '{OWN}')": KEPT,
    "DELETE FROM idempotency_keys WHERE created_at < $1": OWN_KEPT,
    "DELETE FROM sessions WHERE expires_at < $1": timedelta(0),
    "DELETE FROM password_links WHERE expires_at < $1": timedelta(0),
    "DELETE FROM waiting_mails WHERE expires_at < $1": timedelta(0),
    "DELETE FROM invitations WHERE expires_at < $1": timedelta(0),
    "DELETE FROM sandbox_callbacks WHERE done_at < $1": SANDBOX_FOR,
    "DELETE FROM sandbox_messages WHERE received_at < $1": SANDBOX_FOR,
    "DELETE FROM receipts WHERE message_id IS NULL AND received_at < $1": UNMATCHED_FOR,
    "DELETE FROM unmatched_callbacks WHERE received_at < $1": UNUSABLE_FOR,
    "DELETE FROM erased_texts WHERE erased_at < $1": REPEATED_FOR,
}
FORGET_BODIES = """
UPDATE webhook_deliveries SET body = NULL WHERE created_at < $1 AND body IS NOT NULL AND status <> 'pending'
"""
FORGET_DELIVERIES = "DELETE FROM webhook_deliveries WHERE created_at < $1 AND status <> 'pending'"
FORGET_NOTICES = "DELETE FROM webhook_notices WHERE created_at < $1"
FORGET_SUBSCRIPTIONS = """
DELETE FROM webhook_subscriptions s WHERE status = 'removed' AND created_at < $1
  AND NOT EXISTS (SELECT FROM webhook_deliveries WHERE subscription_id = s.id)
"""
EVERY = 600.0


def purge(database: Database, clock: Clock, payloads: timedelta, metadata: timedelta) -> Job:
    """Return the job that forgets: answered keys, unmatched receipts, what the sandbox took, webhook deliveries.

    `payloads` is how long the bodies of deliveries are kept, `metadata` how long the deliveries, notices and
    subscriptions that are over.
    """
    records = (FORGET_DELIVERIES, FORGET_NOTICES, FORGET_SUBSCRIPTIONS)
    purges = {**PURGES, FORGET_BODIES: payloads, **dict.fromkeys(records, metadata)}

    async def run() -> bool:
        for statement, kept in purges.items():
            await database.pool.execute(statement, clock.now() - kept)
        return False

    async def due() -> bool:
        return True

    return Job("retention", run, due, every=EVERY)

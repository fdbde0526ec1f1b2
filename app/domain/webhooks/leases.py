"""Leases of subscriptions: take, renew, and release with the updated health."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from app.db import claims
from app.db.engine import Connection, Pool
from app.domain.kernel.clock import Clock
from app.domain.kernel.unit_of_work import Notify
from app.domain.webhooks import payloads
from app.domain.webhooks.health import Health
from app.domain.webhooks.models import NoticeKind, SubscriptionStatus
from app.domain.webhooks.notices import notify
from app.domain.webhooks.rows import Leased, Owned
from app.domain.webhooks.schedule import Schedule, spell

IS_DUE = """
SELECT EXISTS (SELECT FROM webhook_subscriptions
  WHERE status = 'active' AND wake_at <= $1 AND (leased_until IS NULL OR leased_until <= $1))
"""

# NO KEY UPDATE: the KEY SHARE lock of a dispatcher must not make the row skipped.
LEASE = """
WITH due AS (
  SELECT id, leased_until IS NOT NULL AS has_lapsed FROM webhook_subscriptions
  WHERE status = 'active' AND wake_at <= $1 AND (leased_until IS NULL OR leased_until <= $1) AND id <> ALL($4::bigint[])
  ORDER BY wake_at LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE webhook_subscriptions s SET leased_until = $2, lease = lease + 1 FROM due WHERE s.id = due.id
RETURNING s.id, s.account_id, s.kind, s.events, s.target_url, s.creator_id, s.secret, s.old_secret, s.old_secret_until,
  s.leased_until, s.lease, s.revision, s.failures, s.trips, s.open_until, s.failing_since, s.noticed, due.has_lapsed
"""

GIVE_BACK = """
UPDATE webhook_subscriptions s SET leased_until = NULL
FROM unnest($1::bigint[], $2::bigint[]) AS held(id, lease) WHERE s.id = held.id AND s.lease = held.lease
"""

# A released subscription is not renewed: no worker would deliver for it until that lease expires. Erasures and replays
# lock the rows in the same order.
RENEW = """
WITH held AS MATERIALIZED (
  SELECT s.id, h.last_success_at FROM webhook_subscriptions s
  JOIN unnest($1::bigint[], $2::bigint[], $3::timestamptz[]) AS h(id, lease, last_success_at)
    ON h.id = s.id AND h.lease = s.lease
  WHERE s.leased_until IS NOT NULL ORDER BY s.id FOR NO KEY UPDATE OF s
)
UPDATE webhook_subscriptions s
SET leased_until = $4, last_success_at = coalesce(held.last_success_at, s.last_success_at)
FROM held WHERE s.id = held.id RETURNING s.id
"""

LOCK = """
SELECT revision, kind, events FROM webhook_subscriptions
WHERE id = $1 AND lease = $2 AND leased_until IS NOT NULL FOR UPDATE
"""

STORE = """
UPDATE webhook_subscriptions SET failures = $2, trips = $3, open_until = $4, failing_since = $5, noticed = $6,
  last_success_at = coalesce($7, last_success_at)
WHERE id = $1
"""

FREE = """
UPDATE webhook_subscriptions s SET leased_until = NULL,
  wake_at = CASE WHEN due.at IS NOT NULL THEN greatest(due.at, s.open_until) END
FROM (
  SELECT min(next_attempt_at) AS at FROM webhook_deliveries
  WHERE subscription_id = $1 AND status = 'pending' AND event = ANY($2::text[])
) AS due
WHERE s.id = $1 RETURNING wake_at
"""

COUNT_FAILED = """
SELECT count(*) FROM (
  SELECT FROM webhook_deliveries
  WHERE subscription_id = $1 AND attempts > 0 AND NOT is_test
    AND (status = 'pending' OR status = 'failed' AND created_at >= $2)
  LIMIT $3
) AS failed
"""

END = """
UPDATE webhook_subscriptions SET status = $2, wake_at = NULL, leased_until = NULL, lease = lease + 1,
  has_leftovers = true, revision = revision + 1
WHERE id = $1 AND status <> 'removed' RETURNING id
"""


@dataclass(frozen=True, slots=True)
class Leases:
    """The leases of this process; `subscription` is a row as `take` returned it."""

    pool: Pool
    clock: Clock
    notify: Notify
    schedule: Schedule

    async def due(self) -> bool:
        """Return whether an unleased subscription has deliveries due."""
        return await self.pool.ask(IS_DUE, self.clock.now())

    async def take(self, limit: int, held: Sequence[int]) -> Sequence[Leased]:
        """Lease subscriptions with due work, except those in `held`.

        `has_lapsed` is true if the previous holder did not release the lease, probably because it died.
        """
        now = self.clock.now()
        arguments = (now, now + self._time, limit, held)
        return await claims.claim(
            self.pool, Leased, LEASE, *arguments, give_back=self._release_unused, seconds=self.schedule.lease
        )

    async def give_back(self, subscriptions: Sequence[Leased]) -> None:
        """Release subscriptions without deliveries, so that they can be leased at once; retry lost connections."""
        await claims.persist(lambda: self._release_unused(subscriptions), self.schedule.lease)

    async def _release_unused(self, subscriptions: Sequence[Leased]) -> None:
        ids, numbers = [each.id for each in subscriptions], [each.lease for each in subscriptions]
        await self.pool.execute(GIVE_BACK, ids, numbers)

    async def renew(
        self, subscriptions: Sequence[Leased], last_successes: Sequence[datetime | None]
    ) -> dict[int, datetime]:
        """Renew leases, and store last successes; return the end of each lease that this process still holds, by id."""
        ids, numbers = [each.id for each in subscriptions], [each.lease for each in subscriptions]
        until = self.clock.now() + self._time
        return {row["id"]: until for row in await self.pool.fetch(RENEW, ids, numbers, last_successes, until)}

    async def release(self, subscription: Leased, health: Health) -> None:
        """Release a subscription with its health and the time of its next work.

        The row is locked before the next due time is read: a concurrent dispatcher has either committed its
        deliveries, or sets `wake_at` after this transaction. The health is not stored when the subscription was
        changed since the lease. A lost connection is retried; after a successful release the retry changes nothing.
        """
        await claims.persist(lambda: self._release(subscription, replace(health)), self.schedule.lease)

    async def _release(self, subscription: Leased, health: Health) -> None:
        now, id = self.clock.now(), subscription.id
        async with self.pool.acquire() as connection, connection.transaction():
            found = await connection.fetchrow(LOCK, id, subscription.lease)
            if found is None:
                return
            if found["revision"] == subscription.revision:
                await self._store(connection, subscription, health, now)
            wake_at = await connection.fetchval(FREE, id, payloads.names_for(found["kind"], found["events"]))
        if wake_at and wake_at <= now:
            self.notify("webhooks")

    async def remove(self, subscription: Leased) -> bool:
        """End a subscription that answered 410 Gone; return False if its lease has ended or it was changed since."""
        async with self.pool.acquire() as connection, connection.transaction():
            revision = await connection.fetchval(LOCK, subscription.id, subscription.lease)
            if revision != subscription.revision:
                return False
            await end(connection, subscription, SubscriptionStatus.removed, "answered 410 Gone and was removed")
        return True

    async def _store(self, connection: Connection, subscription: Leased, health: Health, now: datetime) -> None:
        notice = health.due_notice(now, self.schedule)
        state = (health.failures, health.trips, health.open_until, health.failing_since, health.noticed)
        await connection.execute(STORE, subscription.id, *state, health.last_success_at)
        without = f"{spell(self.schedule.disable_after)} without success"
        if await self._is_hopeless(connection, subscription, health, now):
            await end(connection, subscription, SubscriptionStatus.disabled, f"was disabled after {without}")
        elif notice:
            await notify(
                connection, subscription, NoticeKind.failing, f"has been failing for {notice}; {without} disable it"
            )

    async def _is_hopeless(self, connection: Connection, subscription: Leased, health: Health, now: datetime) -> bool:
        if not health.is_failing_for_too_long(now, self.schedule):
            return False
        least = self.schedule.disable_failures
        return await connection.fetchval(COUNT_FAILED, subscription.id, health.failing_since, least) >= least

    @property
    def _time(self) -> timedelta:
        return timedelta(seconds=self.schedule.lease)


async def end(connection: Connection, subscription: Owned, status: SubscriptionStatus, why: str) -> None:
    """End a subscription, or disable it so that its deliveries can be replayed; notify the account once.

    No pending delivery is sent any more; `webhooks.leftovers` cancels or skips them.
    """
    if await connection.fetchval(END, subscription.id, status.value):
        await notify(connection, subscription, NoticeKind(status), why)

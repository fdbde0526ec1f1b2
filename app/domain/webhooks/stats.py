"""Counts of the attempts of webhooks by the hour, and the figures of their last day.

Each process counts in memory, and adds its counts every few seconds; one that is killed loses them.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import NamedTuple

from sqlalchemy import func, select

from app.db.engine import UNREACHABLE, Pool
from app.domain.kernel import records
from app.domain.kernel.clock import Clock
from app.domain.kernel.delayed_flush import DelayedFlush
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.webhooks.models import Subscription, WebhookHour
from app.domain.webhooks.poster import Reply

FLUSH_SECONDS = 5.0
HOURS, HOUR_SECONDS = 24, 3600
GROWTH = 1.2
"""The ratio of the longest answer times of two buckets: an answer time is known to within a fifth."""

UNANSWERED = 0
RANK = 0.95

ADD = """
WITH s AS (SELECT id FROM webhook_subscriptions WHERE id = ANY($1::bigint[]) ORDER BY id FOR KEY SHARE)
INSERT INTO webhook_hours AS h (subscription_id, hour, bucket, attempts, successes)
SELECT n.* FROM unnest($1::bigint[], $2::timestamptz[], $3::bigint[], $4::bigint[], $5::bigint[])
  AS n(subscription_id, hour, bucket, attempts, successes)
JOIN s ON s.id = n.subscription_id
ORDER BY 1, 2, 3
ON CONFLICT (subscription_id, hour, bucket) DO UPDATE SET
  attempts = h.attempts + excluded.attempts, successes = h.successes + excluded.successes
"""
"""Add counts to those of other processes; those of a webhook that is deleted, even just now, are dropped."""


class Place(NamedTuple):
    """A webhook, an hour as the number of those since 1970, and a bucket of answer times."""

    subscription_id: int
    hour: int
    bucket: int


@dataclass(slots=True)
class AttemptCounts:
    """Counts the attempts of this process. Noting never waits and never fails."""

    pool: Pool
    clock: Clock
    _attempts: Counter[Place] = field(default_factory=Counter)
    _successes: Counter[Place] = field(default_factory=Counter)
    _later: DelayedFlush = field(init=False)

    def __post_init__(self) -> None:
        """Plan flushes of these counts."""
        self._later = DelayedFlush(self.flush, FLUSH_SECONDS)

    def note(self, subscription_id: int, reply: Reply) -> None:
        """Count an attempt."""
        place = Place(subscription_id, int(self.clock.now().timestamp()) // HOUR_SECONDS, bucket_of(reply))
        self._attempts[place] += 1
        if reply.is_success:
            self._successes[place] += 1
        self._later.plan()

    async def flush(self) -> None:
        """Add the counts to those of other processes; while the database is unreachable, they are lost."""
        attempts, successes = self._attempts, self._successes
        self._attempts, self._successes = Counter(), Counter()
        if attempts:
            rows = [
                (place.subscription_id, _begin(place.hour), place.bucket, count, successes[place])
                for place, count in attempts.items()
            ]
            with suppress(*UNREACHABLE):
                await self.pool.execute(ADD, *map(list, zip(*rows, strict=True)))

    async def close(self) -> None:
        """Add the remaining counts."""
        await self._later.close()


@dataclass(frozen=True, slots=True)
class WebhookStats:
    """The attempts of a webhook since an hour, tests excepted: how many succeeded, and how long answers took."""

    since: datetime
    attempts: int = 0
    successes: int = 0
    p95_seconds: float | None = None

    @property
    def success_share(self) -> float | None:
        """Return the share of successful attempts; None without any."""
        return self.successes / self.attempts if self.attempts else None


async def find_stats(unit: UnitOfWork, ids: Sequence[int]) -> dict[int, WebhookStats]:
    """Return the figures of webhooks of the account by their ids: of the present hour and the 23 before it."""
    since = _hour(unit.clock.now()) - timedelta(hours=HOURS - 1)
    id, bucket = WebhookHour.subscription_id, WebhookHour.bucket
    sums = select(id, bucket, func.sum(WebhookHour.attempts), func.sum(WebhookHour.successes))
    own = Subscription.account_id == unit.actor.account_id, records.among(Subscription.id, ids)
    counted = sums.join(Subscription, Subscription.id == id).where(*own, WebhookHour.hour >= since)
    rows: dict[int, dict[int, tuple[int, int]]] = {each: {} for each in ids}
    for of, place, attempts, successes in await unit.rows(counted.group_by(id, bucket)):
        rows[of][place] = int(attempts), int(successes)
    return {each: _summarize(since, found) for each, found in rows.items()}


def bucket_of(reply: Reply) -> int:
    """Return the bucket of an answer time, the least whose `longest` it does not exceed."""
    if reply.status is None:
        return UNANSWERED
    milliseconds = reply.duration * 1000
    return 1 + (math.ceil(math.log(milliseconds, GROWTH)) if milliseconds > 1 else 0)


def longest(bucket: int) -> float:
    """Return the longest answer time of a bucket, in seconds."""
    return GROWTH ** (bucket - 1) / 1000


def _summarize(since: datetime, counts: Mapping[int, tuple[int, int]]) -> WebhookStats:
    attempts, successes = (sum(each) for each in zip(*counts.values(), strict=True)) if counts else (0, 0)
    answered = {bucket: counts[bucket][0] for bucket in sorted(counts) if bucket != UNANSWERED}
    rank = math.ceil(sum(answered.values()) * RANK)
    upto = zip(answered, accumulate(answered.values()), strict=True)
    p95 = next((longest(bucket) for bucket, count in upto if count >= rank), None)
    return WebhookStats(since, attempts, successes, p95)


def _begin(hour: int) -> datetime:
    return datetime.fromtimestamp(hour * HOUR_SECONDS, UTC)


def _hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)

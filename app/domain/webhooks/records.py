"""Read due deliveries and record the results of attempts."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple

from app.db.engine import UNREACHABLE, Pool
from app.db.rows import fetch, integers, unless_all
from app.domain.kernel.micro_batcher import MicroBatcher
from app.domain.webhooks.models import DeliveryStatus
from app.domain.webhooks.poster import Reply

MAX_BATCH = 64
WRITERS = 2
RETRY_SECONDS = 0.5

FIND_DUE = """
SELECT id, event, webhook_id, contact_id, body, attempts, is_test FROM webhook_deliveries
WHERE subscription_id = $1 AND status = 'pending' AND next_attempt_at <= $2 AND id <> ALL($3::bigint[])
  AND event = ANY($7::text[])
  AND EXISTS (SELECT FROM webhook_subscriptions WHERE id = $1 AND lease = $5 AND revision = $6 AND status = 'active')
ORDER BY next_attempt_at, id LIMIT $4
"""

# A delivered result is recorded even when the subscription was disabled or removed meanwhile: no replay may repeat it.
# The rows of deliveries are locked, so that no attempt is added for one that is being deleted.
RECORD = """
WITH result AS (
  SELECT id, coalesce(number, 1) AS number, answered, coalesce(error, '') AS error, address, seconds, headers,
    coalesce(body, '') AS body, at, coalesce(status, 'delivered') AS status, next_attempt_at
  FROM unnest($1::text::bigint[], $2::bigint[], $3::text::bigint[], $4::text[], $5::text[], $6::float8[], $7::jsonb[],
    $8::text[], $9::timestamptz[], $10::text[], $11::timestamptz[])
  AS r(id, number, answered, error, address, seconds, headers, body, at, status, next_attempt_at)
), recorded AS (
  UPDATE webhook_deliveries d SET attempts = number, status = r.status, answer_status = answered,
    next_attempt_at = r.next_attempt_at, delivered_at = CASE r.status WHEN 'delivered' THEN at END
  FROM result r WHERE d.id = r.id AND (d.status = 'pending' OR r.status = 'delivered') RETURNING d.id
), ended AS (
  SELECT d.id FROM webhook_deliveries d JOIN result r USING (id)
  WHERE d.status <> 'pending' AND r.status <> 'delivered' FOR KEY SHARE OF d
), attempt AS (
  INSERT INTO webhook_attempts (delivery_id, number, status, error, address, seconds, headers, body, attempted_at)
  SELECT id, number, answered, error, address, seconds, headers, body, at FROM result
  JOIN (SELECT id FROM recorded UNION ALL SELECT id FROM ended) found USING (id)
)
SELECT id, lease, revision FROM webhook_subscriptions WHERE id = ANY($12::bigint[]) AND status = 'active'
"""
"""Records results; returns those of the subscriptions `$12` that are active."""


class Held(NamedTuple):
    """A subscription as this process holds it: its lease and its revision when a delivery was fetched."""

    id: int
    lease: int
    revision: int


class Result(NamedTuple):
    """The result of one attempt: the new state of the delivery, and the time of the next attempt."""

    delivery_id: int
    number: int
    reply: Reply
    at: datetime
    status: DeliveryStatus
    next_attempt_at: datetime | None
    subscription: Held


class Recorder:
    """Records results in micro-batches. A delivery whose result is not recorded when the process dies is sent twice.

    PostgreSQL completes a statement it has received even if this process is killed. Several writers therefore send
    results at once instead of waiting for the previous statement. While the database is unreachable, `record` waits
    and retries, so that a delivery is not repeated for lack of a record.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._writers = [MicroBatcher(self._write, MAX_BATCH) for _ in range(WRITERS)]

    async def warm(self) -> None:
        """Open connections and prepare the statement on them before the first result."""
        await asyncio.gather(*(self._write(()) for _ in range(2 * WRITERS)))

    async def record(self, result: Result) -> bool:
        """Write a result; return whether the lease is still held and the subscription unchanged."""
        return await min(self._writers, key=attrgetter("load"))(result)

    async def _write(self, results: Sequence[Result]) -> Sequence[bool]:
        while True:
            try:
                ordered = sorted(results, key=attrgetter("delivery_id"))
                held = set(await fetch(self._pool, Held, RECORD, *_columns(ordered)))
            except UNREACHABLE:
                await asyncio.sleep(RETRY_SECONDS)
            else:
                return [result.subscription in held for result in results]


def _columns(results: Sequence[Result]) -> Sequence[Any]:
    replies = [result.reply for result in results]
    return [
        integers([result.delivery_id for result in results]),
        unless_all([result.number for result in results], 1),
        integers([reply.status for reply in replies]),
        unless_all([reply.error for reply in replies], ""),
        [reply.address for reply in replies],
        [reply.duration for reply in replies],
        [{name: _storable(value) for name, value in reply.headers.items()} for reply in replies],
        unless_all([_storable(reply.body.decode("utf-8", "replace")) for reply in replies], ""),
        [result.at for result in results],
        unless_all([result.status.value for result in results], DeliveryStatus.delivered),
        unless_all([result.next_attempt_at for result in results], None),
        list({result.subscription.id for result in results}),
    ]


def _storable(text: str) -> str:
    return text.replace("\x00", "")

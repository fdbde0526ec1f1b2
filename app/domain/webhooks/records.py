"""Read due deliveries and record the results of attempts."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, NamedTuple

import orjson

from app.db.engine import UNREACHABLE, Pool
from app.db.rows import fetch, integers, texts, unless_all
from app.domain.kernel.clock import Clock
from app.domain.kernel.micro_batcher import MicroBatcher
from app.domain.webhooks.models import DeliveryStatus
from app.domain.webhooks.poster import Reply
from app.domain.webhooks.rows import Due

MAX_BATCH = 64
WRITERS = 2
MAX_SEARCHES, READERS = 16, 2
RETRY_SECONDS = 0.5

# The subscriptions come first, so that the rows of one that has changed are not read.
FIND_DUE = """
WITH wanted AS MATERIALIZED (
  SELECT w.id, held::bigint[] AS held, w.events::text[] AS events, most
  FROM unnest($1::text::bigint[], $2::text::bigint[], $3::text::bigint[], $4::text[], $5::text[], $6::text::bigint[])
    AS w(id, lease, revision, events, held, most)
  JOIN webhook_subscriptions s ON s.id = w.id AND s.lease = w.lease AND s.revision = w.revision AND status = 'active'
)
SELECT wanted.id AS subscription_id, d.id, event, webhook_id, contact_id, body, attempts, is_test
FROM wanted CROSS JOIN LATERAL (
  SELECT id, event, webhook_id, contact_id, body, attempts, is_test, next_attempt_at FROM webhook_deliveries
  WHERE subscription_id = wanted.id AND status = 'pending' AND next_attempt_at <= $7 AND id <> ALL(held)
    AND event = ANY(events)
  ORDER BY next_attempt_at, id LIMIT most
) d ORDER BY next_attempt_at, d.id
"""

# A delivered result is recorded even when the subscription was disabled or removed meanwhile: no replay may repeat it.
# The rows of deliveries are locked, so that no attempt is added for one that is being deleted, and no answer stored for
# one whose body an erasure has emptied: it may repeat the body.
RECORD = """
WITH result AS (
  SELECT id, coalesce(number, 1) AS number, answered, coalesce(error, '') AS error, address, seconds, headers,
    coalesce(body, '') AS body, at, coalesce(status, 'delivered') AS status, next_attempt_at
  FROM unnest($1::text::bigint[], $2::bigint[], $3::text::bigint[], $4::text[], $5::text::text[],
    $6::text::float8[], $7::text::jsonb[], $8::text[], $9::timestamptz[], $10::text[], $11::timestamptz[])
  AS r(id, number, answered, error, address, seconds, headers, body, at, status, next_attempt_at)
), recorded AS (
  UPDATE webhook_deliveries d SET attempts = number, status = r.status, answer_status = answered,
    next_attempt_at = r.next_attempt_at, delivered_at = CASE r.status WHEN 'delivered' THEN at END
  FROM result r WHERE d.id = r.id AND (d.status = 'pending' OR r.status = 'delivered')
  RETURNING d.id, d.body IS NULL AS is_emptied
), ended AS (
  SELECT d.id, d.body IS NULL AS is_emptied FROM webhook_deliveries d JOIN result r USING (id)
  WHERE d.status <> 'pending' AND r.status <> 'delivered' FOR KEY SHARE OF d
), attempt AS (
  INSERT INTO webhook_attempts (delivery_id, number, status, error, address, seconds, headers, body, attempted_at)
  SELECT id, number, answered, error, address, seconds, CASE WHEN is_emptied THEN '{}' ELSE headers END,
    CASE WHEN is_emptied THEN '' ELSE body END, at
  FROM result JOIN (SELECT * FROM recorded UNION ALL SELECT * FROM ended) found USING (id)
)
SELECT id, lease, revision FROM webhook_subscriptions WHERE id = ANY($12::bigint[]) AND status = 'active'
"""
"""Records results; returns those of the subscriptions `$12` that are active."""


class Held(NamedTuple):
    """A subscription as this process holds it: its lease and its revision when a delivery was fetched."""

    id: int
    lease: int
    revision: int


class Wanted(NamedTuple):
    """A search for at most `most` due deliveries of the events of a subscription, without those in `held_ids`."""

    subscription: Held
    events: Sequence[str]
    held_ids: Collection[int]
    most: int


class Result(NamedTuple):
    """The result of one attempt: the new state of the delivery, and the time of the next attempt."""

    delivery_id: int
    number: int
    reply: Reply
    at: datetime
    status: DeliveryStatus
    next_attempt_at: datetime | None
    subscription: Held


class DueReader:
    """Reads due deliveries; several searches that begin at the same time are one statement."""

    def __init__(self, pool: Pool, clock: Clock) -> None:
        self._pool = pool
        self._clock = clock
        self._readers = [MicroBatcher(self._read, MAX_SEARCHES) for _ in range(READERS)]

    async def find(self, wanted: Wanted) -> Sequence[Due]:
        """Return due deliveries in their order; none if the lease has ended or the subscription was changed."""
        return await min(self._readers, key=attrgetter("load"))(wanted)

    async def _read(self, searches: Sequence[Wanted]) -> Sequence[Sequence[Due]]:
        found = defaultdict[int, list[Due]](list)
        for due in await fetch(self._pool, Due, FIND_DUE, *_searched(searches), self._clock.now()):
            found[due.subscription_id].append(due)
        return [found[each.subscription.id] for each in searches]


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


def _searched(searches: Sequence[Wanted]) -> Sequence[Any]:
    return [
        *(integers(column) for column in zip(*(each.subscription for each in searches), strict=True)),
        [f"{{{','.join(each.events)}}}" for each in searches],
        [integers(each.held_ids) for each in searches],
        integers([each.most for each in searches]),
    ]


def _columns(results: Sequence[Result]) -> Sequence[Any]:
    replies = [result.reply for result in results]
    return [
        integers([result.delivery_id for result in results]),
        unless_all([result.number for result in results], 1),
        integers([reply.status for reply in replies]),
        unless_all([reply.error for reply in replies], ""),
        texts(reply.address for reply in replies),
        texts(str(reply.duration) for reply in replies),
        texts(_headers(reply) for reply in replies),
        unless_all([_storable(reply.body.decode("utf-8", "replace")) for reply in replies], ""),
        [result.at for result in results],
        unless_all([result.status.value for result in results], DeliveryStatus.delivered),
        unless_all([result.next_attempt_at for result in results], None),
        list({result.subscription.id for result in results}),
    ]


def _headers(reply: Reply) -> str:
    return orjson.dumps({name: _storable(value) for name, value in reply.headers.items()}).decode()


def _storable(text: str) -> str:
    return text.replace("\x00", "")

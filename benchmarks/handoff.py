"""Hand-off to the sandbox, in process: the product compared with three statements per batch that write the same rows.

Each runs alone, batch after batch, until no message is due. The baseline checks no gates and makes no calls. In the
rounds with calls that hang, the carrier never answers one call in a hundred; the rate is that of the other messages.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from app.bootstrap import open_services
from app.db.engine import Pool
from benchmarks import accounts
from benchmarks.figures import Bar, Comparison, Series
from benchmarks.harness import Stage

MESSAGES = 3_000
HANGING = MESSAGES // 100
BATCH = 100
LEASE = timedelta(seconds=30)

NAMES = ("product", "floor", "with")

ADD_PEOPLE = """
WITH added AS (
  INSERT INTO contacts (account_id, phone, source)
  SELECT $1, '+1212556' || lpad(n::text, 4, '0'), 'api' FROM generate_series(1, $2::int) AS n RETURNING id
)
INSERT INTO conversations (account_id, contact_id, last_message_at) SELECT $1, id, now() FROM added
"""

ADD_PENDING = """
WITH added AS (
  INSERT INTO messages (account_id, contact_id, conversation_id, direction, from_number, to_number, body, status,
    segments, encoding, credits, cost, carrier, actor)
  SELECT c.account_id, c.id, t.id, 'outbound', '+15002000001', phone, 'Your appointment is confirmed.', 'pending',
    1, 'GSM-7', 1, 0.01, 'sandbox', 'benchmark'
  FROM contacts c JOIN conversations t ON t.contact_id = c.id RETURNING *
)
INSERT INTO outgoing (message_id, account_id, lane, number, carrier, segments, due_at)
SELECT id, account_id, 2, from_number, carrier, 1, now() FROM added
"""

HANG = """
UPDATE messages SET to_number = '+15005550302' WHERE id IN (
  SELECT message_id FROM outgoing ORDER BY message_id % 100, message_id LIMIT $1
)
"""
"""Addresses messages to a number for which the sandbox never answers."""

DROP_HANGING = """
WITH dropped AS (DELETE FROM outgoing) UPDATE messages SET status = 'failed' WHERE status = 'pending'
"""
COUNT_WAITING = "SELECT count(*) FROM outgoing"
COUNT_SENT = "SELECT count(*) FROM messages WHERE status = 'sent'"

CLAIM = """
WITH due AS (
  SELECT message_id FROM outgoing WHERE claimed_until IS NULL AND due_at <= $1
  ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED
)
UPDATE outgoing o SET claimed_until = $2, attempts = attempts + 1 FROM due WHERE o.message_id = due.message_id
RETURNING o.message_id
"""

TAKE = """
WITH taken AS (
  INSERT INTO sandbox_messages (reference, provider_message_id, from_number, to_number, body, outcome, accepted_at)
  SELECT id, 'sbx_' || id, from_number, to_number, body, 'accepted', now() FROM messages WHERE id = ANY($1::bigint[])
  RETURNING reference
)
INSERT INTO sandbox_callbacks (reference, kind, payload, due_at)
SELECT reference, 'status', jsonb_build_object('id', 'sbx_' || reference, 'reference', reference, 'status', status),
  now() + step * interval '0.2 seconds'
FROM taken, (VALUES ('sent', 1), ('delivered', 2)) AS report(status, step)
"""

MARK_SENT = """
WITH done AS (
  DELETE FROM outgoing WHERE message_id = ANY($1::bigint[])
), sent AS (
  UPDATE messages SET provider_message_id = 'sbx_' || id, status = 'sent',
    carrier_status = 'queued', sent_at = now()
  WHERE id = ANY($1::bigint[]) RETURNING *
)
INSERT INTO events (account_id, name, contact_id, payload)
SELECT account_id, 'message_sent', contact_id, jsonb_build_object('message_id', id, 'provider_message_id',
  provider_message_id, 'from_number', from_number, 'to_number', to_number, 'body', body, 'status', status,
  'segments', segments, 'cost', cost, 'contact_id', contact_id, 'sent_at', sent_at) FROM sent
"""


async def measure(on: Stage, rounds: int) -> list[Comparison]:
    """Hand off the same number of messages in turns."""
    async with on.database("handoff") as settings, open_services(settings) as services:
        [account] = await accounts.open_accounts(settings, 1)
        pool, handoff = services.database.pool, services.handoff
        await pool.execute(ADD_PEOPLE, account.id, MESSAGES)
        room = asyncio.Event()
        handoff.sends.watch(room.set)

        async def ours(left: int = 0) -> None:
            """Claim as a worker does, when there is room; count what waits only once no call is in flight."""
            sends = handoff.sends
            while True:
                room.clear()
                while await handoff.run():
                    pass
                if sends.size - sends.free <= left and await pool.fetchval(COUNT_WAITING) <= left:
                    return
                with suppress(TimeoutError):
                    await asyncio.wait_for(room.wait(), 0.05)

        async def floor() -> None:
            while await _hand_over(pool, BATCH):
                pass

        async def hang() -> float:
            rate = await _rate(pool, lambda: ours(HANGING), HANGING)
            await handoff.finish()
            await pool.execute(DROP_HANGING)
            return rate

        seen = [(await _rate(pool, ours), await _rate(pool, floor), await hang()) for _ in range(rounds)]
    product, bare, hanging = (Series(name, [each[place] for each in seen]) for place, name in enumerate(NAMES))
    return [
        Comparison("hand-off to the sandbox", "messages/s", product, bare),
        Comparison("hand-off, 1 % of calls hang", "messages/s", hanging, product, Bar(0.8)),
    ]


async def _rate(pool: Pool, run: Callable[[], Awaitable[None]], hanging: int = 0) -> float:
    """Return the messages per second that a program hands off; fail unless all are handed off that can be."""
    before = await pool.fetchval(COUNT_SENT)
    await pool.execute(ADD_PENDING)
    await pool.execute(HANG, hanging)
    begun = time.perf_counter()
    await run()
    taken = time.perf_counter() - begun
    assert await pool.fetchval(COUNT_SENT) == before + MESSAGES - hanging
    return (MESSAGES - hanging) / taken


async def _hand_over(pool: Pool, batch: int) -> bool:
    now = datetime.now(UTC)
    ids = [row["message_id"] for row in await pool.fetch(CLAIM, now, now + LEASE, batch)]
    await pool.execute(TAKE, ids)
    await pool.execute(MARK_SENT, ids)
    return len(ids) == batch

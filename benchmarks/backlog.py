"""One account with 50,000 promotional texts queued: how long the replies and codes of others wait for the carrier.

The time from the acceptance of a text until the sandbox has it, compared with that while no other text waits. The
worker is a separate process, as in production.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from statistics import quantiles

import asyncpg

from app.bootstrap import open_services
from app.domain.kernel.unit_of_work import Actor
from app.domain.messages.models import Purpose
from app.domain.messages.requests import Send
from app.services import Services
from app.settings import Settings
from benchmarks import accounts, harness
from benchmarks.figures import Bar, Comparison, Series
from benchmarks.handoff import ADD_PEOPLE
from benchmarks.harness import Stage

QUEUED = 50_000
CONTACTS = 1_000
OTHERS = 10
PER_SECOND, SECONDS = 40, 4
URGENT = (Purpose.conversational, Purpose.transactional)

ADD_PROMOTIONS = """
WITH added AS (
  INSERT INTO messages (account_id, contact_id, conversation_id, direction, from_number, to_number, body, status,
    purpose, segments, encoding, credits, cost, carrier, actor)
  SELECT c.account_id, c.id, t.id, 'outbound', n.phone_number, phone, 'Ten percent off.', 'pending', 'promotional',
    1, 'GSM-7', 1, 0.01, 'sandbox', 'benchmark'
  FROM contacts c JOIN conversations t ON t.contact_id = c.id JOIN phone_numbers n ON n.account_id = c.account_id
    CROSS JOIN generate_series(1, $2::int)
  WHERE c.account_id = $1 RETURNING *
)
INSERT INTO outgoing (message_id, account_id, lane, number, carrier, segments, due_at)
SELECT id, account_id, 3, from_number, carrier, 1, now() FROM added
"""
IS_OPEN = """
SELECT EXISTS (SELECT FROM outgoing) OR EXISTS (SELECT FROM sandbox_callbacks) OR EXISTS (SELECT FROM outbox)
"""
FIND_WAITS = """
SELECT extract(epoch FROM s.received_at - m.created_at)::float8 FROM messages m
JOIN sandbox_messages s ON s.reference = m.id WHERE m.id = ANY($1::bigint[])
"""


@dataclass(frozen=True, slots=True)
class Course:
    """Accounts that send urgent texts, and the one that has the backlog."""

    services: Services
    connection: asyncpg.Connection
    account_ids: Sequence[int]
    busy: int

    async def waits(self) -> list[float]:
        """Return the times in ms from acceptance to the carrier, of texts at a steady pace."""
        await self._send(range(PER_SECOND))  # fills the caches
        begun = time.perf_counter()
        sending: list[asyncio.Task[int]] = []
        for place in range(PER_SECOND * SECONDS):
            await asyncio.sleep(max(0.0, begun + place / PER_SECOND - time.perf_counter()))
            sending.append(asyncio.create_task(self._send_one(place)))
        ids = await asyncio.gather(*sending)
        async with asyncio.timeout(60):
            while len(rows := await self.connection.fetch(FIND_WAITS, ids)) < len(ids):  # noqa: ASYNC110 - as below
                await asyncio.sleep(0.1)
        return [1000 * row[0] for row in rows]

    async def burdened_waits(self) -> list[float]:
        """Return those times while another account has a backlog, and remove the rest of it."""
        await self.connection.execute(ADD_PROMOTIONS, self.busy, QUEUED // CONTACTS)
        self.services.notify("messages")
        found = await self.waits()
        assert await self.connection.fetchval("SELECT count(*) FROM outgoing") > 0, "the backlog was too short"
        await self.connection.execute("DELETE FROM outgoing WHERE lane = 3 AND claimed_until IS NULL")
        await self.settle()
        await self.connection.execute("VACUUM ANALYZE")
        return found

    async def settle(self) -> None:
        """Wait until no text, callback or event waits."""
        while await self.connection.fetchval(IS_OPEN):  # noqa: ASYNC110 - other processes do the work
            await asyncio.sleep(0.1)

    async def _send(self, places: Sequence[int]) -> None:
        await asyncio.gather(*map(self._send_one, places))

    async def _send_one(self, place: int) -> int:
        actor = Actor(self.account_ids[place % OTHERS], frozenset(), "benchmark")
        phone = f"+1212555{place % CONTACTS:04}"
        text = Send(phone, "Your code is 4711.", purpose=URGENT[place % 2], consent_attested=True)
        return (await self.services.acceptor.accept(actor, text)).message_id


async def measure(on: Stage, rounds: int) -> list[Comparison]:
    """Measure without and with the backlog, in turns."""
    async with on.database("backlog") as settings, _course(settings) as course:
        await course.waits()
        await course.settle()
        pairs = [(_p95(await course.waits()), _p95(await course.burdened_waits())) for _ in range(rounds)]
    calm, burdened = ([pair[place] for pair in pairs] for place in (0, 1))
    title = f"urgent texts beside {QUEUED:,} promotions"
    return [Comparison(title, "ms, p95", Series("beside", burdened), Series("idle", calm), Bar(3, is_most=True))]


def _p95(values: Sequence[float]) -> float:
    return quantiles(values, n=20)[-1]


@asynccontextmanager
async def _course(settings: Settings) -> AsyncGenerator[Course]:
    opened = await accounts.open_accounts(settings, OTHERS + 1)
    connection = await asyncpg.connect(settings.database_url)
    busy, *others = (account.id for account in opened)
    await connection.execute(ADD_PEOPLE, busy, CONTACTS)
    await connection.execute("VACUUM ANALYZE")
    with harness.product(settings), harness.worker(settings):
        async with open_services(settings) as services:
            yield Course(services, connection, others, busy)
    await connection.close()

"""Campaigns, in process: the recipients, texts and debits of 100,000 contacts against the bare insert of the same rows.

A preview of them is compared with a read of the same rows through asyncpg, and the memory of the process after a
campaign to 100,000 contacts with that after one to 10,000. No text is handed off.
"""

import time
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

import psutil

from app.bootstrap import open_campaigns, open_services
from app.db.engine import Pool
from app.domain.accounts.scopes import ALL
from app.domain.campaigns import enqueue, previews, service
from app.domain.campaigns.audience import Audience
from app.domain.campaigns.service import Order
from app.domain.kernel.unit_of_work import Actor, UnitOfWork, open_unit
from app.domain.quiet_hours.rules import EVERY_DAY
from app.services import Services
from benchmarks import accounts
from benchmarks.figures import Bar, Comparison, Series
from benchmarks.harness import Stage

FEW, PEOPLE = 10_000, 100_000
BODY = "Hi {first_name}, our summer sale begins today. Reply STOP to opt out."

ADD_PEOPLE = """
WITH added AS (
  INSERT INTO contacts (account_id, phone, first_name, source)
  SELECT $1, '+1212' || 2000000 + n, 'Ann' || n % 1000, 'import' FROM generate_series(1, $2::int) AS n
  RETURNING id
)
INSERT INTO conversations (account_id, contact_id, sending_number, last_message_at) SELECT $1, id, $3, now() FROM added
"""
AT_ANY_HOUR = """
INSERT INTO quiet_hours_rules (account_id, jurisdiction, weekdays, start_minute, end_minute, overrides_law, created_by)
SELECT id, 'US', $1, 0, 1440, true, 'benchmark' FROM accounts
"""
"""Lets the texts leave at any hour of New York, so that no result depends on the time of the run."""

FLOOR = """
WITH person AS MATERIALIZED (
  SELECT c.id, c.account_id, c.phone, v.id AS conversation_id, nextval('messages_id_seq') AS message_id,
    'Hi ' || c.first_name || ', our summer sale begins today. Reply STOP to opt out.' AS body
  FROM contacts c JOIN conversations v ON v.contact_id = c.id WHERE c.account_id = $1 ORDER BY c.phone
), recipient AS (
  INSERT INTO campaign_recipients (account_id, campaign_id, contact_id, phone, state, segments, credits, number,
    message_id)
  SELECT account_id, $2, id, phone, 'claimed', 1, 1, $3, message_id FROM person
), message AS (
  INSERT INTO messages (id, account_id, contact_id, conversation_id, direction, from_number, to_number, body, status,
    purpose, segments, encoding, credits, cost, carrier, actor)
  SELECT message_id, account_id, id, conversation_id, 'outbound', $3, phone, body, 'pending', 'promotional', 1, 'GSM-7',
    1, 0.01, 'sandbox', 'floor' FROM person
), entry AS (
  INSERT INTO ledger_entries (account_id, type, amount, balance_after, message_id, description, actor)
  SELECT account_id, 'debit', -1, 0, message_id, 'Message ' || message_id, 'floor' FROM person
), consent AS (
  INSERT INTO consents (account_id, phone, kind, method, message_id, actor)
  SELECT account_id, phone, 'attested', 'campaign', message_id, 'floor' FROM person
), counted AS (
  INSERT INTO capped_texts (message_id, account_id, phone, at) SELECT message_id, account_id, phone, now() FROM person
), touched AS (
  UPDATE conversations v SET last_outbound_at = now(), sending_number = $3, version = version + 1 FROM person
  WHERE v.id = conversation_id
)
INSERT INTO outgoing (message_id, account_id, lane, number, carrier, segments, due_at)
SELECT message_id, account_id, 3, $3, 'sandbox', 1, now() FROM person
"""
EMPTY = """
SET LOCAL session_replication_role = replica;
TRUNCATE campaign_recipients, campaign_counts, outgoing, consents, ledger_entries, ledger_days, messages, capped_texts
"""
"""Empties the tables without their triggers, one of which keeps the records of consent."""

READ = """
SELECT id, first_name, last_name, email, phone, created_at, status, dnd_sms, held_until FROM contacts
WHERE account_id = $1 ORDER BY phone
"""
ARE_QUEUED = """
SELECT EXISTS (SELECT FROM campaign_recipients WHERE campaign_id = $1 AND state = 'queued')
"""


@dataclass(frozen=True, slots=True)
class Course:
    """The services, and an account with contacts that its campaigns text."""

    services: Services
    account_id: int
    number: str

    async def send(self) -> float:
        """Return the recipients a second of a campaign, from its send until all texts are accepted."""
        pool, runner = self.services.database.pool, open_campaigns(self.services)
        campaign_id = await self._create()
        begun = time.perf_counter()
        async with self._unit() as unit:
            await service.send(unit, campaign_id, Order(consent_attested=True))
        more = True
        while more:
            await runner.run()
            more = bool(await pool.fetchval("SELECT NOT is_read FROM campaigns WHERE id = $1", campaign_id))
        while await pool.fetchval(ARE_QUEUED, campaign_id):
            for _ in range(20):
                await runner.run()
        return await self._rate(begun)

    async def insert(self) -> float:
        """Return the recipients a second of the bare insert."""
        begun = time.perf_counter()
        await self.services.database.pool.execute(FLOOR, self.account_id, 0, self.number)
        return await self._rate(begun)

    async def preview(self) -> float:
        """Return the seconds of a preview."""
        campaign_id = await self._create()
        begun = time.perf_counter()
        async with self._unit() as unit:
            await previews.preview(unit, self.services.database.pool, campaign_id, 10)
        return time.perf_counter() - begun

    async def read(self) -> float:
        """Return the seconds of a read of the same rows."""
        begun = time.perf_counter()
        await self.services.database.pool.fetch(READ, self.account_id)
        return time.perf_counter() - begun

    async def _rate(self, begun: float) -> float:
        taken, pool = time.perf_counter() - begun, self.services.database.pool
        done = await pool.fetchval("SELECT count(*) FROM outgoing")
        await pool.execute(EMPTY)
        await pool.execute("UPDATE campaigns SET status = 'canceled', due_at = NULL")
        return done / taken

    async def _create(self) -> int:
        async with self._unit() as unit:
            fields: service.CampaignFields = {"name": "Sale", "body": BODY, "audience": Audience(everyone=True)}
            return (await service.create(unit, fields)).id

    def _unit(self) -> AbstractAsyncContextManager[UnitOfWork]:
        actor = Actor(self.account_id, ALL, "benchmark")
        return open_unit(self.services.database.sessions, actor, self.services.clock, self.services.notify)


async def measure(on: Stage, rounds: int) -> list[Comparison]:
    """Send campaigns and insert the same rows in turns, then preview and read in turns."""
    enqueue.WINDOW = PEOPLE
    async with on.database("campaigns") as settings, open_services(settings) as services:
        few, many = await accounts.open_accounts(settings, 2)
        pool = services.database.pool
        await pool.execute("UPDATE accounts SET balance = 1000000000, weekly_cap = 1000000")
        await pool.execute(AT_ANY_HOUR, list(EVERY_DAY))
        courses = [Course(services, account.id, await _number(pool, account.id)) for account in (few, many)]
        for course, people in zip(courses, (FEW, PEOPLE), strict=True):
            await pool.execute(ADD_PEOPLE, course.account_id, people, course.number)
        await pool.execute("ANALYZE")
        await courses[0].send()
        before = _memory()
        sent, inserted = list[float](), list[float]()
        for _ in range(rounds):
            sent.append(await courses[1].send())
            inserted.append(await courses[1].insert())
        after = _memory()
        shown = [(await courses[1].preview(), await courses[1].read()) for _ in range(rounds)]
    previewed, read = Series("preview", [each for each, _ in shown]), Series("read", [each for _, each in shown])
    product, floor = Series("product", sent), Series("insert", inserted)
    memory = Series("100,000", [after / 1e6]), Series("10,000", [before / 1e6])
    return [
        Comparison("campaigns: snapshot, render, debit", "recipients/s", product, floor, Bar(0.7)),
        Comparison("campaigns: preview of 100,000", "s", previewed, read, Bar(3, is_most=True)),
        Comparison("campaigns: memory", "MB", *memory, Bar(1.2, is_most=True)),
    ]


async def _number(pool: Pool, account_id: int) -> str:
    return await pool.fetchval("SELECT phone_number FROM phone_numbers WHERE account_id = $1", account_id)


def _memory() -> float:
    return psutil.Process().memory_info().rss

"""Receipts over HTTP on 32 connections, compared with sends in turns: applied receipts per accepted send.

Each message is reported as sent, then as delivered or failed; no receipt is repeated. No worker runs. The CPU time of a
receipt is that of the web process and of all processes of PostgreSQL.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import asyncpg
import orjson

from app.bootstrap.secrets import derive
from app.domain.carriers.carrier import FailureCode, ReceiptStatus
from app.providers.carriers.sandbox.callbacks import status_payload
from app.providers.carriers.sandbox.signature import HEADER, sign
from app.settings import Settings
from benchmarks import harness, load, send
from benchmarks.figures import Bar, Comparison, Series
from benchmarks.harness import Process, Stage

SECONDS = 2.0
TEXTS = 12_000
AT_ONCE = 64
"""The number of messages that are reported as sent before the first is reported as delivered."""

ADD_SENT = """
INSERT INTO messages (account_id, contact_id, conversation_id, direction, from_number, to_number, body, status,
  segments, encoding, credits, cost, carrier, actor, sent_at)
SELECT c.account_id, c.id, t.id, 'outbound', '+15002000001', phone, 'Your appointment is confirmed.', 'sent',
  1, 'GSM-7', 1, 0.01, 'sandbox', 'benchmark', now()
FROM contacts c JOIN conversations t ON t.contact_id = c.id CROSS JOIN generate_series(1, $1::int / $2::int)
RETURNING id
"""
NAME_SENT = """
WITH named AS (
  INSERT INTO carrier_ids (carrier, provider_message_id, direction, message_id)
  SELECT 'sandbox', 'sbx_' || id, 'outbound', id FROM unnest($1::bigint[]) AS id
)
UPDATE messages SET provider_message_id = 'sbx_' || id WHERE id = ANY($1::bigint[])
"""
COUNT_APPLIED = "SELECT count(*) FROM receipts"


@dataclass(slots=True)
class Figures:
    """The results of the rounds: requests per second, and the CPU time of a request in microseconds."""

    rates: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Course:
    """The product's web process, and the receipts and sends for it."""

    stage: Stage
    settings: Settings
    web: Process
    connection: asyncpg.Connection

    async def report(self, final: ReceiptStatus, into: Figures) -> None:
        """Post receipts for some seconds; fail unless every answered receipt was applied."""
        before: int = await self.connection.fetchval(COUNT_APPLIED) or 0
        requests = await self._reports(final)
        answered = self._measure(requests, into)
        assert answered <= len(requests)
        assert await self.connection.fetchval(COUNT_APPLIED) == before + answered

    def send(self, requests: Sequence[bytes], into: Figures) -> None:
        """Send messages for the same time."""
        self._measure(requests, into)

    def _measure(self, requests: Sequence[bytes], into: Figures) -> int:
        before = self._cpu_seconds()
        result = load.run(self.web.port, requests, SECONDS)
        into.rates.append(result.rate)
        into.cpu.append(1e6 * (self._cpu_seconds() - before) / result.total)
        return result.total

    def _cpu_seconds(self) -> float:
        return self.web.cpu_seconds() + self.stage.database_cpu_seconds()

    async def _reports(self, final: ReceiptStatus) -> list[bytes]:
        ids = [row["id"] for row in await self.connection.fetch(ADD_SENT, TEXTS, len(send.PHONES))]
        await self.connection.execute(NAME_SENT, ids)
        await self.connection.execute("VACUUM ANALYZE messages")
        now, secret = time.time(), derive(self.settings, "sandbox")
        blocks = [ids[place : place + AT_ONCE] for place in range(0, len(ids), AT_ONCE)]
        reports = [(id, status) for block in blocks for status in (ReceiptStatus.sent, final) for id in block]
        return [_request(secret, now, id, status) for id, status in reports]


async def measure(on: Stage, rounds: int) -> list[Comparison]:
    """Report messages of many accounts as delivered, then messages of one account as failed and refunded."""
    kinds = [(100, ReceiptStatus.delivered, Bar(0.5)), (1, ReceiptStatus.failed, None)]
    return [row for count, final, bar in kinds for row in await _compare(on, rounds, count, final, bar)]


async def _compare(on: Stage, rounds: int, accounts: int, final: ReceiptStatus, bar: Bar | None) -> list[Comparison]:
    reports, sends = Figures(), Figures()
    async with on.database(f"receipts_{accounts}") as settings:
        requests = await send.open_crowd(settings, accounts)
        connection = await asyncpg.connect(settings.database_url)
        with harness.product(settings) as web:
            course = Course(on, settings, web, connection)
            for _ in range(rounds):
                course.send(requests, sends)
                await course.report(final, reports)
        await connection.close()
    title = f"receipts, {final}, {accounts} account{'s' * (accounts > 1)}"
    return [
        Comparison(title, "/s", Series("reports", reports.rates), Series("sends", sends.rates), bar),
        Comparison(f"{title}: CPU", "us", Series("a report", reports.cpu), Series("a send", sends.cpu)),
    ]


def _request(secret: bytes, now: float, id: int, status: ReceiptStatus) -> bytes:
    code = FailureCode.unreachable if status is ReceiptStatus.failed else None
    body = orjson.dumps({**status_payload(id, status, code), "at": datetime.fromtimestamp(now, UTC)})
    return load.post(f"/carriers/sandbox/status?message={id}", {HEADER: sign(secret, body, now)}, body)

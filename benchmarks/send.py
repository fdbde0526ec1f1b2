"""Sends over HTTP on 32 connections: the product's web process compared with one statement behind raw ASGI.

The recipients are contacts with a conversation, which is the usual case. No worker runs: only the acceptance of sends
is measured. The load generator, both programs and PostgreSQL share the machine.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import asyncpg
import orjson

from app.settings import Settings
from benchmarks import accounts, harness, load
from benchmarks.accounts import Opened
from benchmarks.figures import Bar, Comparison, Series
from benchmarks.harness import Process, Stage
from benchmarks.load import Result

SECONDS = 2.0
TEXT = "Your appointment is confirmed for Tuesday at 9:30. Reply C to change it."
PHONES = [f"+1212556{number:04}" for number in range(2000)]
BARS = {100: Bar(1.0), 1: Bar(2.5)}
"""The minimum ratio, by the number of sending accounts."""

ADD_PEOPLE = """
WITH added AS (
  INSERT INTO contacts (account_id, phone, source)
  SELECT $1, phone, 'api' FROM unnest($2::text[]) AS phone RETURNING id
)
INSERT INTO conversations (account_id, contact_id, last_message_at) SELECT $1, id, now() FROM added
"""


@dataclass(frozen=True, slots=True)
class Rounds:
    """The results of one program by round; `cpu` is the CPU time of its process for one send, in microseconds."""

    name: str
    results: list[Result] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    def run(self, process: Process, requests: Sequence[bytes]) -> None:
        """Measure one round."""
        before = process.cpu_seconds()
        result = load.run(process.port, requests, SECONDS)
        self.results.append(result)
        self.cpu.append(1e6 * (process.cpu_seconds() - before) / result.total)

    def rate(self) -> Series:
        """Return the sends per second."""
        return Series(self.name, [result.rate for result in self.results])

    def tail(self, title: str, bar: Bar | None = None) -> Comparison:
        """Compare the 99th percentile of the latency with the median."""
        slow = Series("p99", [result.p99 for result in self.results])
        usual = Series("p50", [result.p50 for result in self.results])
        return Comparison(f"{title}: tail of {self.name}", "ms", slow, usual, bar)


async def measure(on: Stage, rounds: int) -> list[Comparison]:
    """Measure with many accounts, and with one account whose balance every send debits."""
    async with on.database("send") as settings:
        crowds = {count: await open_crowd(settings, count) for count in BARS}
        taken = {count: (Rounds("product"), Rounds("floor")) for count in BARS}
        with harness.product(settings) as product, harness.floor("benchmarks.floor_send", settings) as floor:
            for _ in range(rounds):
                for count, requests in crowds.items():
                    for each, process in zip(taken[count], (product, floor), strict=True):
                        each.run(process, requests)
    return [row for count, (ours, theirs) in taken.items() for row in _compare(count, ours, theirs)]


def _compare(count: int, product: Rounds, floor: Rounds) -> list[Comparison]:
    title = f"send, {count} account{'s' * (count > 1)}"
    return [
        Comparison(title, "sends/s", product.rate(), floor.rate(), BARS[count]),
        product.tail(title, Bar(4, is_most=True)),
        floor.tail(title),
        Comparison(f"{title}: CPU", "us/send", Series("product", product.cpu), Series("floor", floor.cpu)),
    ]


async def open_crowd(settings: Settings, count: int) -> list[bytes]:
    """Open accounts; return a send for each phone, with the account that has the phone as a contact."""
    opened = await accounts.open_accounts(settings, count)
    connection = await asyncpg.connect(settings.database_url)
    requests: list[bytes] = []
    for place, account in enumerate(opened):
        phones = PHONES[place::count]
        await connection.execute(ADD_PEOPLE, account.id, phones)
        requests += [_request(account, phone) for phone in phones]
    await connection.execute("VACUUM ANALYZE")
    await connection.close()
    random.Random(0).shuffle(requests)
    return requests


def _request(account: Opened, phone: str) -> bytes:
    """Return a send for both programs: the baseline ignores the key, the product ignores the account."""
    body = orjson.dumps({"to": phone, "message": TEXT, "consent_attested": True})
    return load.post("/sms/send", {"X-API-Key": account.key, "X-Account-Id": str(account.id)}, body)

"""A page of contacts over HTTP: an account with 1,000,000 compared with one with 10,000, in one database.

Reads by an index take the same time in both accounts; counts do not. One client queries both in turns. The fastest of a
few responses counts, because other work of the machine only adds time.
"""

import http.client
import time
from collections.abc import Mapping
from urllib.parse import urlencode

import asyncpg

from app.settings import Settings
from benchmarks import accounts, harness
from benchmarks.accounts import Opened
from benchmarks.figures import Bar, Comparison, Series
from benchmarks.harness import Process, Stage

MANY, FEW = 1_000_000, 10_000
LIMIT = 100
REPEATS = 8

MOST = Bar(1.5, is_most=True)
LISTS: Mapping[str, tuple[Mapping[str, str], Bar | None]] = {
    "latest added": ({}, MOST),
    "by name": ({"sort": "name_asc"}, MOST),
    "by name, backwards": ({"sort": "name_desc"}, MOST),
    "by score": ({"sort": "score_high"}, MOST),
    "of a stage": ({"stage": "qualified"}, MOST),
    "of a stage, by name": ({"stage": "qualified", "sort": "name_asc"}, MOST),
    "of a stage, by score": ({"stage": "qualified", "sort": "score_high"}, MOST),
    "opted out": ({"status": "opted_out"}, MOST),
    "search for a phone": ({"search": "+12120004321"}, MOST),
    "search for the end of a phone": ({"search": "4321"}, None),
    "search for a name": ({"search": "ivy"}, MOST),
}
"""The parameters of each list, and the limit of its ratio."""

ADD_CONTACTS = """
INSERT INTO contacts (account_id, phone, first_name, last_name, email, pipeline_stage, replies, source, created_at,
  tags, custom_fields)
SELECT $1, '+1212' || lpad(n::text, 7, '0'),
  (ARRAY['Ada', 'Ben', 'Cleo', 'Dan', 'Eve', 'Finn', 'Gus', 'Hal', 'Ivy', 'Jo', 'Kim', 'Leo', 'Mia'])[1 + n % 13],
  initcap(left(md5(n::text), 6)), left(md5(n::text), 10) || '@example.com',
  (ARRAY['new_lead', 'contacted', 'qualified', 'proposal', 'won', 'lost'])[1 + n / 13 % 6], n % 7, 'import',
  now() - n * interval '1 second', ARRAY['tag' || n % 50, 'all'], jsonb_build_object('visits', n % 100)
FROM generate_series(1, $2::int) AS n
"""

PLAIN_INDEXES = """
SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition
FROM pg_index WHERE indrelid = 'contacts'::regclass AND NOT indisunique
"""


async def measure(on: Stage, rounds: int) -> list[Comparison]:
    """Query the first page of each list in both accounts."""
    async with on.database("contacts") as settings:
        many, few = await accounts.open_accounts(settings, 2)
        await fill(settings, {many.id: MANY, few.id: FEW})
        with harness.product(settings) as product:
            seen = {
                name: [_times(product, query, many, few) for _ in range(rounds)] for name, (query, _) in LISTS.items()
            }
    return [
        Comparison(
            f"contacts, {name}",
            "ms",
            Series(f"of {MANY:,}", [slow for slow, _ in seen[name]]),
            Series(f"of {FEW:,}", [quick for _, quick in seen[name]]),
            bar,
        )
        for name, (_, bar) in LISTS.items()
    ]


async def fill(settings: Settings, wanted: Mapping[int, int]) -> None:
    """Add contacts with tags and a custom field. Their indexes are built afterwards, in a fraction of the time."""
    connection = await asyncpg.connect(settings.database_url)
    await connection.execute("SET maintenance_work_mem = '256MB'")
    indexes = await connection.fetch(PLAIN_INDEXES)
    for index in indexes:
        await connection.execute(f"DROP INDEX {index['name']}")
    for account_id, count in wanted.items():
        await connection.execute(ADD_CONTACTS, account_id, count)
    for index in indexes:
        await connection.execute(index["definition"])
    await connection.execute("VACUUM ANALYZE")
    await connection.close()


def _times(product: Process, query: Mapping[str, str], many: Opened, few: Opened) -> tuple[float, float]:
    """Return the response time of a list in both accounts, in ms."""
    client = http.client.HTTPConnection("127.0.0.1", product.port)
    pairs = [(_ask(client, many.key, query), _ask(client, few.key, query)) for _ in range(REPEATS)]
    client.close()
    return min(slow for slow, _ in pairs), min(quick for _, quick in pairs)


def _ask(client: http.client.HTTPConnection, key: str, query: Mapping[str, str]) -> float:
    begun = time.perf_counter()
    client.request("GET", f"/contacts?{urlencode({'limit': LIMIT, **query})}", headers={"X-API-Key": key})
    answer = client.getresponse()
    body = answer.read()
    taken = 1000 * (time.perf_counter() - begun)
    assert answer.status == 200, body
    return taken

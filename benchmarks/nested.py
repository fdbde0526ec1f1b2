"""Nested lists over HTTP: 100 contacts with their conversation and its last 5 messages, compared with PostGraphile.

PostGraphile reads copies of the rows in plain tables of the same server, with a foreign key and an index for each step.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager

import asyncpg
import orjson

from app.settings import Settings
from benchmarks import accounts, harness, load
from benchmarks.figures import Bar, Comparison, Series
from benchmarks.handoff import ADD_PENDING, ADD_PEOPLE
from benchmarks.harness import ROOT, Stage
from tests.node import NODE, install

CONTACTS, MESSAGES = 100, 5
SECONDS = 3.0
CLIENTS = (1, 8)
BAR = Bar(1)

OURS = f"""
{{ contacts(first: {CONTACTS}) {{ nodes {{
  id phone first_name last_name email pipeline_stage status score source tags created_at updated_at
  conversation {{ id status messages(first: {MESSAGES}) {{ nodes {{
    id direction body status from_number to_number segments created_at
  }} }} }}
}} }} }}
"""
THEIRS = f"""
{{ allContacts(first: {CONTACTS}, orderBy: PRIMARY_KEY_DESC, condition: {{ accountId: "%d" }}) {{ nodes {{
  id phone firstName lastName email pipelineStage status score source tags createdAt updatedAt
  conversationByContactId {{ id status
  messagesByConversationId(first: {MESSAGES}, orderBy: PRIMARY_KEY_DESC) {{ nodes {{
    id direction body status fromNumber toNumber segments createdAt
  }} }} }}
}} }} }}
"""

COPY = """
CREATE SCHEMA peer;
CREATE TABLE peer.contacts AS SELECT id, account_id, phone, first_name, last_name, email, pipeline_stage, status, score,
  source, tags, created_at, updated_at FROM contacts;
CREATE TABLE peer.conversations AS SELECT id, contact_id, status FROM conversations;
CREATE TABLE peer.messages AS SELECT id, conversation_id, direction, body, status, from_number, to_number, segments,
  created_at FROM messages;
ALTER TABLE peer.contacts ADD PRIMARY KEY (id);
ALTER TABLE peer.conversations ADD PRIMARY KEY (id), ADD UNIQUE (contact_id),
  ADD FOREIGN KEY (contact_id) REFERENCES peer.contacts;
ALTER TABLE peer.messages ADD PRIMARY KEY (id), ADD FOREIGN KEY (conversation_id) REFERENCES peer.conversations;
CREATE INDEX ON peer.contacts (account_id, id);
CREATE INDEX ON peer.messages (conversation_id, id);
"""


async def measure(on: Stage, rounds: int) -> list[Comparison]:
    """Send the query to both servers in turns, from one client and from several."""
    async with on.database("nested") as settings:
        [account] = await accounts.open_accounts(settings, 1)
        await _fill(settings, account.id)
        ours = _request(OURS, {"X-API-Key": account.key})
        theirs = _request(THEIRS % account.id, {})
        rates: Mapping[int, list[tuple[float, float]]] = {clients: [] for clients in CLIENTS}
        with harness.product(settings) as product, _postgraphile(settings) as port:
            for clients, seen in rates.items():
                for _ in range(rounds):
                    pair = [_rate(product.port, ours, clients), _rate(port, theirs, clients)]
                    seen.append((pair[0], pair[1]))
    return [_compare(clients, seen) for clients, seen in rates.items()]


def _compare(clients: int, seen: list[tuple[float, float]]) -> Comparison:
    measured, against = zip(*seen, strict=True)
    title = f"nested lists, {clients} client{'s' if clients > 1 else ''}"
    return Comparison(title, "requests/s", Series("/graphql", measured), Series("PostGraphile", against), BAR)


async def _fill(settings: Settings, account_id: int) -> None:
    connection = await asyncpg.connect(settings.database_url)
    await connection.execute(ADD_PEOPLE, account_id, CONTACTS)
    for _ in range(MESSAGES):
        await connection.execute(ADD_PENDING)
    await connection.execute(COPY)
    await connection.execute("VACUUM ANALYZE")
    await connection.close()


def _request(query: str, headers: Mapping[str, str]) -> bytes:
    return load.post("/graphql", dict(headers), orjson.dumps({"query": query}))


def _rate(port: int, request: bytes, clients: int) -> float:
    return load.run(port, [request], SECONDS, clients).rate


@contextmanager
def _postgraphile(settings: Settings) -> Generator[int]:
    """Run PostGraphile on its own port, for production."""
    folder, port = install(ROOT / "benchmarks" / "postgraphile"), harness.free_port()
    command = [str(NODE), str(folder / "serve.mjs"), str(port), settings.database_url or ""]
    with harness.running(command, settings, {"NODE_ENV": "production", "GRAPHILE_ENV": "production"}) as process:
        harness.wait_until_ready(process, port)
        yield port

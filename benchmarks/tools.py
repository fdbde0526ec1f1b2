"""The cost of tool calls: the same operation by `/mcp` and by `/graphql`, in turns over one connection each."""

import http.client
import time
from dataclasses import dataclass

import asyncpg
import orjson

from app.mcp.catalogue import CompiledTool, catalogue
from benchmarks import accounts, harness
from benchmarks.figures import Bar, Comparison, Series
from benchmarks.handoff import ADD_PEOPLE
from benchmarks.harness import Process, Stage

VERSION = "2026-07-28"
CONTACTS = 100
CALLS = 200
BAR = Bar(1.5, is_most=True)
CASES = {
    "get_balance": {},
    "search_contacts, 1 row": {"limit": 1},
    "search_contacts, 20 rows": {"limit": 20},
}
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientInfo": {"name": "benchmarks", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One request."""

    path: str
    body: bytes
    headers: dict[str, str]


async def measure(on: Stage, rounds: int) -> list[Comparison]:
    """Run each case in turns by both surfaces; compare the medians of the response times of a round."""
    async with on.database("tools") as settings:
        [account] = await accounts.open_accounts(settings, 1)
        connection = await asyncpg.connect(settings.database_url)
        await connection.execute(ADD_PEOPLE, account.id, CONTACTS)
        await connection.close()
        with harness.product(settings) as product:
            return [_compare(product, account.key, case, rounds) for case in CASES]


def _compare(product: Process, key: str, case: str, rounds: int) -> Comparison:
    tool = catalogue().find(case.partition(",")[0])
    assert tool
    pairs = [_time(product, key, tool, CASES[case]) for _ in range(rounds + 1)][1:]
    by_tool, by_graphql = zip(*pairs, strict=True)
    return Comparison(f"call of {case}", "ms, p50", Series("/mcp", by_tool), Series("/graphql", by_graphql), BAR)


def _time(product: Process, key: str, tool: CompiledTool, arguments: dict[str, int]) -> tuple[float, float]:
    usual = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    called = {"MCP-Protocol-Version": VERSION, "Mcp-Method": "tools/call", "Mcp-Name": tool.name}
    params = {"name": tool.name, "arguments": arguments, "_meta": META}
    asked = [
        Asked(
            "/mcp",
            orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}),
            {**usual, **called, "Accept": "application/json, text/event-stream"},
        ),
        Asked("/graphql", orjson.dumps({"query": tool.operation.text, "variables": arguments}), usual),
    ]
    client = http.client.HTTPConnection("127.0.0.1", product.port)
    times: tuple[list[float], ...] = ([], [])
    for _ in range(CALLS):
        for one, seen in zip(asked, times, strict=True):
            begun = time.perf_counter()
            client.request("POST", one.path, one.body, one.headers)
            answer = client.getresponse()
            body = answer.read()
            seen.append(1000 * (time.perf_counter() - begun))
            assert answer.status == 200, body
    client.close()
    first, second = (sorted(each)[CALLS // 2] for each in times)
    return first, second

"""What stands in the tables, for tests that look behind the service; and a clock that runs ahead."""

import asyncio
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from app.db.engine import Pool
from app.domain.kernel.clock import Clock

CHAIN = "SELECT account_id, type, amount, balance_after, message_id FROM ledger_entries ORDER BY id"
BLOCKED = """
SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()
"""
OUTBOUND = "SELECT id, status, credits, cost FROM messages WHERE direction = 'outbound'"


@dataclass(frozen=True)
class Later(Clock):
    """A clock that runs ahead of the machine's."""

    ahead: timedelta

    def now(self) -> datetime:
        return super().now() + self.ahead


async def entries(pool: Pool) -> list[tuple[str, int, int]]:
    """Return what was debited and refunded for messages: the type, the amount and the balance it left."""
    rows = await pool.fetch(
        "SELECT type, amount, balance_after FROM ledger_entries WHERE message_id IS NOT NULL ORDER BY id"
    )
    return [tuple(row) for row in rows]


async def told(pool: Pool, *names: str) -> list[str]:
    """Return the names of the events of those names, in their order."""
    return [row["name"] for row in await pool.fetch("SELECT name FROM events WHERE name = ANY($1) ORDER BY id", names)]


async def payloads(pool: Pool, name: str) -> list[dict[str, Any]]:
    """Return what the events of a name say, in their order."""
    return [row["payload"] for row in await pool.fetch("SELECT payload FROM events WHERE name = $1 ORDER BY id", name)]


async def states(pool: Pool) -> list[tuple[str, str | None]]:
    """Return the status and the error code of every outbound message, in the order in which they were accepted."""
    rows = await pool.fetch("SELECT status, error_code FROM messages WHERE direction = 'outbound' ORDER BY id")
    return [tuple(row) for row in rows]


async def calls(pool: Pool) -> list[tuple[str, int]]:
    """Return what reached the carrier: each text, and how often it was handed over."""
    return [tuple(row) for row in await pool.fetch("SELECT body, calls FROM sandbox_messages ORDER BY reference")]


async def until_blocked(pool: Pool, statements: int = 1) -> None:
    """Return once so many statements wait for locks of others."""
    async with asyncio.timeout(20):
        while await pool.fetchval(BLOCKED) < statements:  # noqa: ASYNC110 - what is awaited happens in PostgreSQL
            await asyncio.sleep(0.005)


async def audit(pool: Pool) -> None:
    """Fail unless every credit is accounted for: the chain, the balances, one debit a text, one refund a failure."""
    chain = await pool.fetch(CHAIN)
    balances = Counter[int]()
    for entry in chain:
        balances[entry["account_id"]] += entry["amount"]
        assert entry["balance_after"] == balances[entry["account_id"]] >= 0
    accounts = await pool.fetch("SELECT id, balance FROM accounts")
    assert {row["id"]: row["balance"] for row in accounts} == {row["id"]: balances[row["id"]] for row in accounts}

    debits = {row["message_id"]: -row["amount"] for row in chain if row["type"] == "debit" and row["message_id"]}
    refunds = {row["message_id"]: row["amount"] for row in chain if row["type"] == "refund"}
    assert len(debits) + len(refunds) == sum(row["message_id"] is not None for row in chain)
    assert refunds.items() <= debits.items()

    messages = {row["id"]: row for row in await pool.fetch(OUTBOUND)}
    paid = {id for id, row in messages.items() if row["credits"]}
    assert {id: messages[id]["credits"] for id in paid} == {id: debits[id] for id in paid}
    assert paid & refunds.keys() == {id for id in paid if messages[id]["status"] == "failed"}
    assert {id for id in paid if messages[id]["cost"] == 0} == paid & refunds.keys()

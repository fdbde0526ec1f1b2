"""PostgreSQL's plan of a statement with sequential scans disabled, because test tables are small."""

from contextlib import AsyncExitStack
from typing import Any

from app.db.engine import Pool


async def plan(pool: Pool, statement: str, *arguments: Any) -> str:
    """Return the plan of a statement; it scans a table sequentially only if no index is usable."""
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("SET LOCAL enable_seqscan = off")
        rows = await connection.fetch(f"EXPLAIN {statement}", *arguments)
    return "\n".join(row[0] for row in rows)


COUNT = (
    "SELECT coalesce(sum(custom_plans), 0)::int, count(*) FROM pg_prepared_statements WHERE strpos(statement, $1) > 0"
)


async def count_custom_plans(pool: Pool, part: str, connections: int) -> tuple[int, int]:
    """Return how often statements with a part were planned for their arguments, and how many of them are prepared."""
    async with AsyncExitStack() as stack:
        opened = [await stack.enter_async_context(pool.acquire()) for _ in range(connections)]
        found = [await each.fetchrow(COUNT, part) for each in opened]
    return sum(row[0] for row in found), sum(row[1] for row in found)

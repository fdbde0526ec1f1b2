"""PostgreSQL's plan of a statement with sequential scans disabled, because test tables are small."""

from typing import Any

from app.db.engine import Pool


async def plan(pool: Pool, statement: str, *arguments: Any) -> str:
    """Return the plan of a statement; it scans a table sequentially only if no index is usable."""
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute("SET LOCAL enable_seqscan = off")
        rows = await connection.fetch(f"EXPLAIN {statement}", *arguments)
    return "\n".join(row[0] for row in rows)

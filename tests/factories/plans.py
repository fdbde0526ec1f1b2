"""PostgreSQL's plans of statements."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Any

from sqlalchemy import Engine, event

from app.db.engine import PLAN_ONCE, Pool
from tests.factories.tables import Rows

NO_SEQUENTIAL_SCANS = "SET LOCAL enable_seqscan = off"
NO_SORTS = "SET LOCAL enable_sort = off"
NEVER_ANALYZED = (
    "DELETE FROM pg_statistic",
    "UPDATE pg_class SET reltuples = -1, relpages = 0 WHERE relname LIKE '%messages_from_%'",
)
"""Forgets the statistics, and the sizes of the tables of messages."""

NO_HISTORIES = ("TRUNCATE messages, events CASCADE", "DELETE FROM pg_statistic", "ANALYZE messages", "ANALYZE events")
"""Empties the histories: what the tests before left in the tables and their indexes would choose the plan."""


Sent = list[tuple[str, tuple[Any, ...]]]


@contextmanager
def noted() -> Iterator[Sent]:
    """Note the statements of sessions in a block with their parameters."""
    sent = Sent()

    def note(_connection: Any, _cursor: Any, statement: str, parameters: tuple[Any, ...], *_: Any) -> None:
        sent.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", note)
    yield sent
    event.remove(Engine, "before_cursor_execute", note)


async def plan(pool: Pool, statement: str, *arguments: Any, settings: Sequence[str] = ()) -> str:
    """Return the plan of a statement; it scans a table sequentially only if no index is usable.

    The tables of a test are small, so that PostgreSQL would scan each of them.
    """
    return "\n".join(await _explain(pool, [NO_SEQUENTIAL_SCANS, *settings], statement, *arguments))


async def plan_when_new(pool: Pool, rows: Rows, statement: str, *arguments: Any, settings: Sequence[str] = ()) -> str:
    """Return the plan of a statement, as `plan` does, where a table was never filled.

    The tests before leave statistics and indexes of any size, with which PostgreSQL may prefer another index.
    """
    forget = f"DELETE FROM pg_statistic WHERE starelid = '{rows.table}'::regclass"
    return await plan(pool, statement, *arguments, settings=[f"TRUNCATE {rows.table} CASCADE", forget, *settings])


@asynccontextmanager
async def statistics_of_an_empty_table(pool: Pool, rows: Rows) -> AsyncGenerator[None]:
    """Analyze an empty table, and keep PostgreSQL from analyzing it again as it grows."""
    await pool.execute(f"ALTER TABLE {rows.table} SET (autovacuum_enabled = false); ANALYZE {rows.table}")
    yield
    await pool.execute(f"ALTER TABLE {rows.table} RESET (autovacuum_enabled)")


async def list_kept_plan(
    pool: Pool, analyzed: Rows, statement: str, *arguments: Any, settings: Sequence[str] = ()
) -> list[str]:
    """Return the lines of the plan that a connection keeps for a statement, after a table is analyzed as it is now.

    It is made for any arguments: of those that are given, only their number counts.
    """
    await pool.execute(f"ANALYZE {analyzed.table}")
    nulls = ", ".join(["NULL"] * len(arguments))
    return await _explain(pool, [*settings, PLAN_ONCE, f"PREPARE kept AS {statement}"], f"EXECUTE kept({nulls})")


async def _explain(pool: Pool, settings: Sequence[str], statement: str, *arguments: Any) -> list[str]:
    async with pool.acquire() as connection:
        await (transaction := connection.transaction()).start()
        try:
            for setting in settings:
                await connection.execute(setting)
            return [row[0] for row in await connection.fetch(f"EXPLAIN {statement}", *arguments)]
        finally:
            await transaction.rollback()
            await connection.execute("DO $$BEGIN DEALLOCATE kept; EXCEPTION WHEN invalid_sql_statement_name THEN END$$")


COUNT = (
    "SELECT coalesce(sum(custom_plans), 0)::int, count(*) FROM pg_prepared_statements WHERE strpos(statement, $1) > 0"
)


async def count_custom_plans(pool: Pool, part: str, connections: int) -> tuple[int, int]:
    """Return how often statements with a part were planned for their arguments, and how many of them are prepared."""
    async with AsyncExitStack() as stack:
        opened = [await stack.enter_async_context(pool.acquire()) for _ in range(connections)]
        found = [await each.fetchrow(COUNT, part) for each in opened]
    return sum(row[0] for row in found), sum(row[1] for row in found)

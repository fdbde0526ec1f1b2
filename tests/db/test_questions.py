"""Questions that are asked at the same time are one statement."""

import asyncio

import asyncpg
import pytest

from app.db.questions import Questions
from app.services import Services

pytestmark = pytest.mark.anyio


async def test_questions_asked_together_are_answered_by_one_statement(services: Services) -> None:
    pool = services.database.pool
    rows: list[str] = []

    async def fetch_row(statement: str, *arguments: object) -> object:
        rows.append(statement)
        return await pool.fetchrow(statement, *arguments)

    questions = Questions(fetch_row, pool.fetchval)
    answers = await asyncio.gather(
        questions.ask("SELECT $1::int > $2::int", 2, 1),
        questions.ask("SELECT EXISTS (SELECT FROM accounts WHERE id = $1)", -1),
        questions.ask("WITH one AS (SELECT 1 AS n) SELECT n + $1::int FROM one", 2),
    )

    assert answers == [True, False, 3]
    assert len(rows) == 1


async def test_a_question_that_fails_disturbs_no_other(services: Services) -> None:
    pool = services.database.pool
    good, bad, other = await asyncio.gather(
        pool.ask("SELECT $1::int", 1), pool.ask("SELECT 1 / $1::int", 0), pool.ask("SELECT 3"), return_exceptions=True
    )

    assert (good, other) == (1, 3)
    assert isinstance(bad, asyncpg.DivisionByZeroError)


async def test_a_question_whose_caller_was_canceled_disturbs_no_other(services: Services) -> None:
    pool = services.database.pool
    canceled = asyncio.create_task(pool.ask("SELECT 1"))
    other = asyncio.create_task(pool.ask("SELECT 2"))
    await asyncio.sleep(0)
    canceled.cancel()

    assert await other == 2

"""Waiting texts are claimed by index, also by a plan of a time with few texts."""

from contextlib import AsyncExitStack
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from app.domain.messages import outgoing
from app.domain.messages.outgoing import NumberCursor
from app.services import Services
from tests.factories.carriers import CONNECTIONS
from tests.factories.messages import OUTGOING, TOKEN_BUCKETS
from tests.factories.numbers import PHONE_NUMBERS
from tests.factories.plans import count_custom_plans, list_kept_plan, statistics_of_an_empty_table

pytestmark = pytest.mark.anyio

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LOCK_WAITING = NOW, [2], ["sandbox"], ["+15002000001"], [8]
CLAIM = "{1}", NOW
FIND_CLAIMED = "{1}", [NOW], NOW

FIRST_PLANS = 5
"""How often PostgreSQL plans a prepared statement for its arguments before it compares such plans with one for any."""


@pytest.mark.parametrize("texts", [0, 1, 5])
@pytest.mark.parametrize(
    ("statement", "arguments", "key"),
    [
        (outgoing.CLAIM, CLAIM, "(message_id = ANY ("),
        (outgoing.CLAIM_LAPSED, CLAIM, "(message_id = ANY ("),
        (outgoing.FIND_CLAIMED, FIND_CLAIMED, "(message_id = k.id"),
    ],
)
async def test_a_plan_of_a_queue_with_few_texts_finds_each_by_its_id(
    services: Services, statement: str, arguments: tuple[Any, ...], key: str, texts: int
) -> None:
    conditions = await _conditions(services, texts, "pk_outgoing", statement, arguments)

    assert len(conditions) == 1
    assert key in conditions[0]


@pytest.mark.parametrize("texts", [0, 1, 5])
async def test_a_plan_of_a_queue_with_few_texts_reads_those_of_a_number_in_their_order(
    services: Services, texts: int
) -> None:
    conditions = await _conditions(services, texts, "ix_outgoing_numbers", outgoing.LOCK_WAITING, LOCK_WAITING)

    assert len(conditions) == 1
    assert "ROW(lane, carrier, number) >= " in conditions[0]
    assert "ROW(lane, carrier, number, due_at) <= " in conditions[0]


async def test_the_search_for_waiting_numbers_is_planned_a_few_times_at_most(services: Services) -> None:
    pool, connections = services.database.pool, services.settings.database_pool
    async with AsyncExitStack() as stack:
        for table in (OUTGOING, PHONE_NUMBERS, TOKEN_BUCKETS, CONNECTIONS):  # PostgreSQL would analyze them meanwhile
            await stack.enter_async_context(statistics_of_an_empty_table(pool, table))
        # PostgreSQL compares with the mean cost of all plans before, also of those for the tables of other tests.
        await pool.expire_connections()
        for _ in range(2 * connections * FIRST_PLANS):
            await NumberCursor().find(pool, "worker", None)

        custom, _ = await count_custom_plans(pool, outgoing.FIND_NUMBERS, connections)

    assert 0 < custom <= connections * FIRST_PLANS


async def _conditions(
    services: Services, texts: int, index: str, statement: str, arguments: tuple[Any, ...]
) -> list[str]:
    """Return the lines after the scans of an index in the plan that is kept for a queue with a number of texts."""
    for number in range(texts):
        row = {"account_id": 1, "lane": 2, "number": "+15002000001", "carrier": "sandbox", "due_at": NOW}
        await OUTGOING.insert(services, message_id=10**9 + number, **row)
    settings = [outgoing.KEEP_ORDER] if statement == outgoing.LOCK_WAITING else []
    lines = await list_kept_plan(services.database.pool, OUTGOING, statement, *arguments, settings=settings)
    found = [
        then for line, then in pairwise(lines) if f"Scan using {index}" in line or f"Index Scan on {index}" in line
    ]
    assert found, "\n".join(lines)
    return found

"""Messages and events are found by their ids, also by plans of a time with few of them."""

import re
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from app.domain.deliverability.reactions import ADD_RESULTS
from app.domain.events.sql import FIND_EVENTS
from app.domain.live.reactions import ADD_UPDATES
from app.domain.messages import late_reports, missed_texts
from app.domain.messages.receipts.application import WRITE
from app.domain.messages.recording import RECORD_SENT
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.factories.campaigns import add_people
from tests.factories.conversations import open_conversations
from tests.factories.messages import MESSAGES, add_texts
from tests.factories.plans import NEVER_ANALYZED, NO_HISTORIES, list_kept_plan

pytestmark = pytest.mark.anyio

AT = datetime(2026, 1, 1, tzinfo=UTC)
ANSWERED = [1], ["a"], ["queued"], AT, [1], [None], [None]
REPORTED = [1], *([None] for _ in range(14)), AT
COUNTED = [1], [1], ["message_sent"], [None], [AT], [], []
UPDATES = [1], *([None] for _ in range(10)), []

is_scan = re.compile(r"Scan .*\b(?:messages|events)_from_").search
is_by_key = re.compile(r"(?:Index|Recheck) Cond: ").search


@pytest.mark.parametrize(
    ("statement", "arguments"),
    [
        (RECORD_SENT, ANSWERED),
        (WRITE, REPORTED),
        (ADD_UPDATES, UPDATES),
        (FIND_EVENTS, ([1], 10)),
        (ADD_RESULTS, COUNTED),
        (late_reports.CLAIM, ("sandbox", AT, 10, AT)),
    ],
)
async def test_a_plan_of_a_history_with_few_rows_reads_none_but_those_that_it_needs(
    services: Services, statement: str, arguments: tuple[Any, ...]
) -> None:
    lines = await list_kept_plan(services.database.pool, MESSAGES, statement, *arguments, settings=NO_HISTORIES)

    conditions = [then for line, then in pairwise(lines) if is_scan(line)]
    assert conditions, "\n".join(lines)
    assert all(is_by_key(each) for each in conditions), "\n".join(lines)


async def test_the_messages_of_a_batch_are_not_compared_with_one_another(services: Services, account: Opened) -> None:
    pool = services.database.pool
    await add_people(pool, 3000)
    await open_conversations(pool)
    await add_texts(pool)
    lines = await list_kept_plan(pool, MESSAGES, RECORD_SENT, *ANSWERED, settings=NEVER_ANALYZED)

    assert not [line for line in lines if "Join Filter" in line], "\n".join(lines)


@pytest.mark.parametrize("statement", [late_reports.WALK, missed_texts.WALK])
async def test_a_walk_through_the_messages_reads_them_in_the_order_of_their_ids(
    services: Services, statement: str
) -> None:
    pool = services.database.pool

    lines = await list_kept_plan(pool, MESSAGES, statement, 1, AT, AT, [], settings=NO_HISTORIES)

    plan = "\n".join(lines)
    assert "Subplans Removed" in plan, plan  # partitions before the mark
    assert not re.search(r"Sort|Seq Scan on messages", plan), plan

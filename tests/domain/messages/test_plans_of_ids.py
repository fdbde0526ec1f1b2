"""The id that a carrier gave a message is found by its whole key, also by a plan of a time with few ids."""

import re
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import pytest

from app.domain.messages.receipts.application import FIND
from app.domain.messages.recording import RECORD_SENT
from app.services import Services
from tests.factories.messages import CARRIER_IDS
from tests.factories.plans import list_kept_plan

pytestmark = pytest.mark.anyio

ANSWERED = [1], ["a"], ["queued"], datetime(2026, 1, 1, tzinfo=UTC), [1], [None], [None]
REPORTED = ["sandbox"], ["a"], [1]

is_scan = re.compile(r"Index Scan (?:using|on) pk_carrier_ids\b").search
"""Finds a scan of the index, which is one for a bitmap where deleted ids have left it large."""


@pytest.mark.parametrize("ids", [0, 1, 5])
@pytest.mark.parametrize(("statement", "arguments"), [(RECORD_SENT, ANSWERED), (FIND, REPORTED)])
async def test_a_plan_of_a_table_with_few_ids_finds_each_by_its_whole_key(
    services: Services, statement: str, arguments: tuple[Any, ...], ids: int
) -> None:
    for number in range(ids):
        key = {"carrier": "sandbox", "provider_message_id": str(number), "direction": "outbound"}
        await CARRIER_IDS.insert(services, **key, message_id=number)

    lines = await list_kept_plan(services.database.pool, CARRIER_IDS, statement, *arguments)

    conditions = [then for line, then in pairwise(lines) if is_scan(line)]
    assert len(conditions) == 1
    for column in ("carrier", "provider_message_id", "direction"):
        assert f"({column} = " in conditions[0], lines

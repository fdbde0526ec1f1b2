"""Statements do not depend on the time zone of their session, which the operator of the database chooses."""

from datetime import UTC, datetime

import pytest

from app.domain.onboarding.service import Opened
from app.domain.quiet_hours import sql
from app.services import Services
from tests.factories.quiet_hours import QUIET_HOURS_RULES

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Pacific/Kiritimati"])
async def test_the_date_of_a_quiet_hours_rule_is_that_of_utc(services: Services, account: Opened, zone: str) -> None:
    rule = {"jurisdiction": "GB", "weekdays": ["monday"], "start_minute": 600, "end_minute": 1000, "created_by": ""}
    created_at = datetime(2026, 3, 2, 1, 30, tzinfo=UTC)
    await QUIET_HOURS_RULES.insert(services, account_id=account.account_id, created_at=created_at, **rule)
    async with services.database.pool.acquire() as connection, connection.transaction():
        await connection.execute("SELECT set_config('timezone', $1, true)", zone)
        [*_, found] = await connection.fetchval(f"SELECT {sql.rules('$1::bigint')}", account.account_id)

    assert found[-1] == "2026-03-02"

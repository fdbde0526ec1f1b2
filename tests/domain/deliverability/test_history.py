"""The texts of an account by day and hour of a time zone, from the hourly sums of its numbers."""

import itertools
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.domain.deliverability.history import Bucket, DeliveryPoint, find_history
from app.domain.kernel.errors import InvalidInput
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.campaigns.conftest import Act
from tests.domain.conftest import SetClock
from tests.factories.campaigns import NUMBER_HOURS

pytestmark = pytest.mark.anyio

CHICAGO = "America/Chicago"
SPRING = datetime(2027, 3, 15, 15, tzinfo=UTC)
"""The day after clocks went forward in Chicago: midnight was at 06:00 UTC on the 14th, and at 05:00 on the 15th."""


async def add(services: Services, account_id: int, hour: datetime, **counts: int) -> None:
    values = {"number": "+15002000001", "carrier": "sandbox", "region": "1", "segments": 1}
    await NUMBER_HOURS.insert(services, account_id=account_id, hour=hour, **values, **counts)


async def read(act: Act, days: int, bucket: Bucket) -> Sequence[DeliveryPoint]:
    async with act() as unit:
        unit.clock = SetClock(SPRING)
        return await find_history(unit, days, bucket, CHICAGO)


async def test_days_begin_at_midnight_of_the_zone_also_where_its_clocks_change(
    services: Services, account: Opened, new_account: Callable[..., Any], act: Act
) -> None:
    other = await new_account()
    await add(services, account.account_id, datetime(2027, 3, 14, 5, tzinfo=UTC), sent=7)
    await add(services, account.account_id, datetime(2027, 3, 14, 6, tzinfo=UTC), sent=1, delivered=1)
    await add(services, account.account_id, datetime(2027, 3, 15, 4, tzinfo=UTC), sent=2, failed=1)
    await add(services, account.account_id, datetime(2027, 3, 15, 5, tzinfo=UTC), replies=3, opt_outs=1)
    await add(services, other.account_id, datetime(2027, 3, 15, 5, tzinfo=UTC), sent=9)

    points = await read(act, 2, Bucket.day)

    assert points == [
        DeliveryPoint(datetime(2027, 3, 14, 6, tzinfo=UTC), sent=3, delivered=1, failed=1),
        DeliveryPoint(datetime(2027, 3, 15, 5, tzinfo=UTC), replies=3, opt_outs=1),
    ]


async def test_periods_without_texts_are_shown_with_zeros(act: Act) -> None:
    days, hours = await read(act, 3, Bucket.day), await read(act, 2, Bucket.hour)

    assert [point.start.hour for point in days] == [6, 6, 5]
    assert {point.sent for point in (*days, *hours)} == {0}
    starts = [point.start for point in hours]
    assert (len(starts), starts[0], starts[-1]) == (34, datetime(2027, 3, 14, 6, tzinfo=UTC), SPRING)
    assert {later - earlier for earlier, later in itertools.pairwise(starts)} == {timedelta(hours=1)}


@pytest.mark.parametrize(
    ("days", "bucket", "zone", "field"),
    [(0, Bucket.day, "UTC", "days"), (15, Bucket.hour, "UTC", "days"), (1, Bucket.day, "Mars/Base", "time_zone")],
)
async def test_a_period_or_zone_that_does_not_exist_is_refused(
    act: Act, days: int, bucket: Bucket, zone: str, field: str
) -> None:
    async with act() as unit:
        with pytest.raises(InvalidInput) as refused:
            await find_history(unit, days, bucket, zone)

    assert refused.value.field == field

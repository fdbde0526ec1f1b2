"""Automations with a time, while the account changes its time zone."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from app.domain.automations import service, time_zones
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.automations.test_runs import NEW, add_ann, enable
from tests.domain.automations.test_times import TAG, enable_birthday, look
from tests.domain.conftest import Act, UnitFor
from tests.factories.automations import AUTOMATION_RUNS, AUTOMATIONS
from tests.factories.clocks import At
from tests.factories.traps import until_blocked

DAY = datetime(2101, 3, 2, tzinfo=UTC)
DAILY = {"kind": "schedule", "at": "10:00"}
EAST, WEST, FAR_EAST = "Asia/Tokyo", "Pacific/Honolulu", "Pacific/Kiritimati"


async def change_zone(unit_for: UnitFor, account: Opened, zone: str | None, at: datetime) -> None:
    async with unit_for(account) as unit:
        unit.clock = At(at)
        await time_zones.update_account(unit, {"time_zone": zone})


async def look_each_hour(unit_for: UnitFor, account: Opened, since: datetime, hours: int) -> None:
    for hour in range(hours):
        await look(unit_for, account, since + timedelta(hours=hour))


async def runs_of(services: Services) -> list[tuple[str, str]]:
    found = await AUTOMATION_RUNS.read(services, "key", "status")
    return [(row["key"].partition("/")[2], row["status"]) for row in found]


@pytest.mark.parametrize(
    ("zones", "hours"),
    [
        ((None, EAST), (0, 1)),  # before 10:00 in Tokyo, which is 01:00 UTC
        ((None, EAST), (2, 2)),  # after it, so that the day is due at once
        ((None, EAST), (11, 25)),  # after the run of the day: the next one is tomorrow
        ((None, WEST), (9, 20)),  # 10:00 in Honolulu is 20:00 UTC
        ((None, WEST), (12, 44)),
        ((WEST, None), (9, 10)),
        ((EAST, None), (2, 34)),
    ],
)
async def test_a_daily_automation_runs_once_for_each_day_at_the_time_of_the_zone_that_it_has_now(
    perform: Act,
    services: Services,
    unit_for: UnitFor,
    account: Opened,
    zones: tuple[str | None, str | None],
    hours: tuple[int, int],
) -> None:
    hour, after = hours
    await add_ann(perform)
    await enable(perform, DAILY, TAG)
    await AUTOMATIONS.change(services, next_at=(DAY - timedelta(days=1)).replace(hour=10))
    await change_zone(unit_for, account, zones[0], DAY - timedelta(days=1))
    await look_each_hour(unit_for, account, DAY - timedelta(days=1), 24 + hour)
    before = [day for day, _ in await runs_of(services)]

    await change_zone(unit_for, account, zones[1], DAY + timedelta(hours=hour))
    await look_each_hour(unit_for, account, DAY + timedelta(hours=hour), after - hour)
    assert [day for day, _ in await runs_of(services)] == before
    await look(unit_for, account, DAY + timedelta(hours=after))
    assert len(await runs_of(services)) == len(before) + 1
    await look_each_hour(unit_for, account, DAY + timedelta(hours=after), 72 - after)

    expected = ["2101-03-01", "2101-03-02", "2101-03-03", "2101-03-04"]
    found = await runs_of(services)
    assert found == [(day, "running") for day in expected[: len(found)]]
    assert len(found) >= 3


async def test_a_day_whose_time_passed_long_ago_in_the_new_zone_is_recorded_as_skipped(
    perform: Act, services: Services, unit_for: UnitFor, account: Opened
) -> None:
    await add_ann(perform)
    await enable(perform, DAILY, TAG)
    await AUTOMATIONS.change(services, next_at=DAY.replace(hour=10))
    await change_zone(unit_for, account, WEST, DAY)

    await change_zone(unit_for, account, FAR_EAST, DAY.replace(hour=19))
    await look_each_hour(unit_for, account, DAY.replace(hour=19), 5)

    assert await runs_of(services) == [("2101-03-02", "skipped"), ("2101-03-03", "running")]


async def test_birthdays_move_with_the_zone_and_other_triggers_and_paused_ones_stay(
    perform: Act, services: Services, unit_for: UnitFor, account: Opened
) -> None:
    await enable_birthday(perform, "1980-03-02")
    await enable(perform, {"kind": "missed_reply", "hours": 2}, TAG)
    await enable(perform, NEW, TAG)
    paused = await enable(perform, DAILY, TAG)
    await perform(service.set_status, paused, enabled=False)
    await AUTOMATIONS.where(status="active", event=None).change(services, next_at=DAY.replace(hour=10))

    await change_zone(unit_for, account, EAST, DAY)

    times = await AUTOMATIONS.read(services, "next_at")
    assert times == [DAY.replace(hour=1), DAY.replace(hour=10), None, None]


async def test_an_automation_that_is_activated_during_the_change_has_the_new_zone(
    perform: Act, services: Services, unit_for: UnitFor, account: Opened
) -> None:
    automation = await enable(perform, DAILY, TAG)
    await perform(service.set_status, automation, enabled=False)

    async with asyncio.TaskGroup() as tasks, unit_for(account) as unit:
        await time_zones.update_account(unit, {"time_zone": EAST})
        tasks.create_task(perform(service.set_status, automation, enabled=True))
        await until_blocked(services.database.pool)

    next_at = await AUTOMATIONS.only(services, "next_at")
    assert next_at.astimezone(UTC).hour == 1


async def test_a_change_that_keeps_the_trigger_moves_no_time_that_is_due(
    perform: Act, services: Services, unit_for: UnitFor, account: Opened
) -> None:
    automation = await enable(perform, DAILY, TAG)
    await AUTOMATIONS.change(services, next_at=DAY)

    await perform(service.update_automation, automation, {"name": "Other", "trigger": DAILY})

    assert await AUTOMATIONS.only(services, "next_at") == DAY


@pytest.mark.parametrize("zone", [None, "Asia/Tokyo"])
async def test_an_evening_that_clocks_leave_out_has_its_run_after_midnight_or_in_the_evening_of_a_new_zone(
    perform: Act, services: Services, unit_for: UnitFor, account: Opened, zone: str | None
) -> None:
    greenland = "America/Nuuk"  # on 26 March 2101, a Saturday, 23:00 is followed by midnight
    before = datetime(2101, 3, 26, 2, tzinfo=UTC)
    await add_ann(perform)
    await enable(perform, {"kind": "schedule", "at": "23:30"}, TAG)
    await change_zone(unit_for, account, greenland, before)
    await AUTOMATIONS.change(services, next_at=before - timedelta(minutes=30))
    await look(unit_for, account, before)
    if zone:
        await change_zone(unit_for, account, zone, before)
    await look_each_hour(unit_for, account, before, 50)

    assert [day for day, _ in await runs_of(services)] == ["2101-03-25", "2101-03-26", "2101-03-27"]

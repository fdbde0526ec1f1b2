"""Automations with a time: the day that a run is of, when it starts late, and after the account changed its zone."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from app.domain.accounts import service as accounts
from app.domain.accounts.scopes import ALL
from app.domain.automations import runs, service, times
from app.domain.automations.times import OpenUnit
from app.domain.contacts import custom_fields
from app.domain.contacts import service as contacts
from app.domain.contacts.custom_fields import NewField
from app.domain.contacts.models import CustomFieldType
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.automations.test_runs import add_ann, enable, work
from tests.domain.conftest import Act, UnitFor
from tests.factories.automations import AUTOMATION_RUNS, AUTOMATIONS
from tests.factories.campaigns import add_people
from tests.factories.clocks import At
from tests.factories.contacts import CONTACTS
from tests.waiting import within

DAY = datetime(2101, 3, 1, tzinfo=UTC)
TAG = {"kind": "add_tag", "tag": "found"}


def opening(unit_for: UnitFor, account: Opened, at: datetime) -> OpenUnit:
    @asynccontextmanager
    async def open_at() -> AsyncGenerator[UnitOfWork]:
        async with unit_for(account) as unit:
            unit.clock = At(at)
            yield unit

    return open_at


async def look(unit_for: UnitFor, account: Opened, at: datetime) -> int:
    return await times.start_due(opening(unit_for, account, at))


async def enable_birthday(perform: Act, born: str, at: str = "10:00") -> None:
    await perform(custom_fields.create, NewField("born", "Born", CustomFieldType.date))
    await add_ann(perform, custom_fields={"born": born})
    await enable(perform, {"kind": "birthday", "field": "born", "at": at}, TAG)


async def test_a_schedule_that_is_found_after_midnight_runs_again_the_next_evening(
    perform: Act, services: Services, unit_for: UnitFor, account: Opened
) -> None:
    await add_ann(perform)
    await enable(perform, {"kind": "schedule", "at": "23:59"}, TAG)
    evening = DAY.replace(hour=23, minute=59)
    await AUTOMATIONS.change(services, next_at=evening)

    await look(unit_for, account, evening + timedelta(minutes=2))
    await look(unit_for, account, evening + timedelta(days=1))

    assert await AUTOMATION_RUNS.read(services, "key") == ["schedule/2101-03-01", "schedule/2101-03-02"]


async def test_a_birthday_that_is_found_after_midnight_is_not_left_out(
    perform: Act, services: Services, unit_for: UnitFor, account: Opened
) -> None:
    await enable_birthday(perform, "1980-12-31", "23:59")
    evening = datetime(2101, 12, 31, 23, 59, tzinfo=UTC)
    await AUTOMATIONS.change(services, next_at=evening)

    await look(unit_for, account, evening + timedelta(minutes=2))

    assert await AUTOMATION_RUNS.read(services, "key") == ["birthday/2101"]


@pytest.mark.parametrize(
    ("born", "status"), [("03-01", "skipped"), ("03-04", "skipped"), ("03-05", "running"), ("03-06", "running")]
)
async def test_after_an_outage_birthdays_of_the_last_day_start_and_earlier_ones_are_recorded_as_skipped(
    perform: Act, services: Services, unit_for: UnitFor, account: Opened, born: str, status: str
) -> None:
    await enable_birthday(perform, f"1980-{born}")
    await AUTOMATIONS.change(services, next_at=DAY.replace(hour=10))

    for hour in (10, 11):
        await look(unit_for, account, DAY.replace(day=6, hour=hour))
    await work(services, days=365 * 200)

    [(key, found, reason, due_at)] = await AUTOMATION_RUNS.read(services, "key", "status", "reason", "due_at")
    assert (key, due_at) == ("birthday/2101", None)
    assert (found, reason) == (("skipped", "late") if status == "skipped" else ("done", ""))
    assert await CONTACTS.only(services, "tags") == ([] if status == "skipped" else ["found"])


async def test_after_an_outage_over_the_new_year_the_birthdays_of_both_years_are_found(
    perform: Act, services: Services, unit_for: UnitFor, account: Opened
) -> None:
    await enable_birthday(perform, "1980-12-30")
    await perform(contacts.create, {"phone": "+12025550144", "custom_fields": {"born": "1981-01-01"}})
    await AUTOMATIONS.change(services, next_at=datetime(2101, 12, 30, 10, tzinfo=UTC))

    await look(unit_for, account, datetime(2102, 1, 2, 9, tzinfo=UTC))

    assert await AUTOMATION_RUNS.read(services, "key", "status") == [
        ("birthday/2101", "skipped"),
        ("birthday/2102", "running"),
    ]


@pytest.mark.parametrize(
    ("hour", "expected"),
    [
        (11, [("schedule/2101-03-03", "skipped"), ("schedule/2101-03-04", "running")]),
        (23, [("schedule/2101-03-04", "skipped")]),
    ],
)
async def test_after_an_outage_a_schedule_starts_within_12_hours_and_one_skipped_run_stands_for_the_missed_days(
    perform: Act, services: Services, unit_for: UnitFor, account: Opened, hour: int, expected: list[tuple[str, str]]
) -> None:
    await add_ann(perform)
    await enable(perform, {"kind": "schedule", "at": "10:00"}, TAG)
    await AUTOMATIONS.change(services, next_at=DAY.replace(hour=10))

    await look(unit_for, account, DAY.replace(day=4, hour=hour))

    assert await AUTOMATION_RUNS.read(services, "key", "status") == expected
    assert await AUTOMATIONS.only(services, "next_at") == DAY.replace(day=5, hour=10)


async def test_a_schedule_waits_for_its_time_in_the_zone_that_the_account_has_now(
    perform: Act, services: Services, unit_for: UnitFor, account: Opened
) -> None:
    await add_ann(perform)
    await enable(perform, {"kind": "schedule", "at": "10:00", "weekdays": ["tuesday"]}, TAG)
    morning = DAY.replace(hour=10)  # a Tuesday
    await AUTOMATIONS.change(services, next_at=morning)
    await perform(accounts.update, {"time_zone": "America/New_York"})

    await look(unit_for, account, morning)
    assert await AUTOMATION_RUNS.count(services) == 0
    await look(unit_for, account, morning + timedelta(hours=5))

    assert await AUTOMATION_RUNS.read(services, "key") == ["schedule/2101-03-01"]


@pytest.mark.parametrize(("year", "day"), [(2101, "02-28"), (2104, "02-29")])
async def test_a_birthday_on_29_february_is_on_the_28th_of_other_than_leap_years(
    perform: Act, services: Services, unit_for: UnitFor, account: Opened, year: int, day: str
) -> None:
    await enable_birthday(perform, "2000-02-29")
    for before in range(27, 32):
        morning = datetime(year, 2, 1, 10, tzinfo=UTC) + timedelta(days=before - 1)
        await AUTOMATIONS.change(services, next_at=morning)
        await look(unit_for, account, morning)
        found = await AUTOMATION_RUNS.count(services)
        assert found == (f"{morning:%m-%d}" >= day)


async def test_a_birthday_on_28_february_is_not_found_on_the_29th_of_a_leap_year(
    perform: Act, services: Services, unit_for: UnitFor, account: Opened
) -> None:
    await enable_birthday(perform, "2000-02-28")
    morning = datetime(2104, 2, 29, 10, tzinfo=UTC)
    await AUTOMATIONS.change(services, next_at=morning)

    await look(unit_for, account, morning)

    assert await AUTOMATION_RUNS.count(services) == 0


async def test_skipped_runs_of_missed_days_leave_the_daily_runs_of_a_contact_to_the_others(
    perform: Act, services: Services, unit_for: UnitFor, account: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "MAX_DAILY", 2)
    await add_ann(perform)
    now = datetime.now(UTC)  # the time of the database, at which runs are created
    last = now - timedelta(hours=1)
    for _ in range(2):
        await enable(perform, {"kind": "schedule", "at": f"{last:%H:%M}"}, TAG)
    await AUTOMATIONS.change(services, next_at=last - timedelta(days=3))

    await look(unit_for, account, now)

    statuses = sorted(await AUTOMATION_RUNS.read(services, "status"))
    assert statuses == ["running", "running", "skipped", "skipped"]


@pytest.fixture
async def morning(perform: Act, services: Services, monkeypatch: pytest.MonkeyPatch) -> datetime:
    """Provide the time of a schedule of five contacts that are looked at in pairs."""
    monkeypatch.setattr(times, "AT_ONCE", 2)
    await add_people(services, 5)
    await enable(perform, {"kind": "schedule", "at": "10:00"}, TAG)
    morning = DAY.replace(hour=10)
    await AUTOMATIONS.change(services, next_at=morning)
    return morning


async def test_a_schedule_whose_worker_dies_starts_each_run_once(
    services: Services, unit_for: UnitFor, account: Opened, morning: datetime
) -> None:
    opened, open_at = count(), opening(unit_for, account, morning)

    @asynccontextmanager
    async def die() -> AsyncGenerator[UnitOfWork]:
        async with open_at() as unit:
            yield unit
            assert next(opened) < 2, "the worker dies"

    with pytest.raises(AssertionError, match="the worker dies"):
        await times.start_due(die)
    before = await AUTOMATION_RUNS.count(services), await AUTOMATIONS.only(services, "next_at")
    await look(unit_for, account, morning + timedelta(minutes=1))

    assert before == (2, morning)
    assert await AUTOMATION_RUNS.read(services, "key", "status") == [("schedule/2101-03-01", "running")] * 5
    assert len({*await AUTOMATION_RUNS.read(services, "contact_id")}) == 5
    assert await AUTOMATIONS.only(services, "next_at") == morning + timedelta(days=1)


async def test_a_schedule_that_is_paused_while_its_runs_start_starts_no_others(
    perform: Act, services: Services, unit_for: UnitFor, account: Opened, morning: datetime
) -> None:
    opened, open_at = count(), opening(unit_for, account, morning)
    id = await AUTOMATIONS.only(services, "id")

    @asynccontextmanager
    async def pause_meanwhile() -> AsyncGenerator[UnitOfWork]:
        if next(opened) == 2:
            await perform(service.set_status, id, enabled=False)
        async with open_at() as unit:
            yield unit

    started = await times.start_due(pause_meanwhile)

    assert started == 0
    assert await AUTOMATION_RUNS.read(services, "status", "reason") == [("canceled", "paused")] * 2
    assert await AUTOMATIONS.only(services, "next_at") is None


async def test_a_schedule_goes_on_after_a_change_of_its_name_while_its_runs_start(
    services: Services, unit_for: UnitFor, account: Opened, morning: datetime
) -> None:
    opened, open_at = count(), opening(unit_for, account, morning)
    id = await AUTOMATIONS.only(services, "id")
    changing, changed = list[asyncio.Task[None]](), asyncio.Event()

    async def rename() -> None:
        async with unit_for(account) as unit:
            unit.actor = replace(unit.actor, scopes=ALL)
            await service.update_automation(unit, id, {"name": "Renamed"})
            changed.set()
            await asyncio.sleep(0.2)

    @asynccontextmanager
    async def rename_meanwhile() -> AsyncGenerator[UnitOfWork]:
        if next(opened) == 2:
            changing.append(asyncio.create_task(rename()))
            await within("the change", changed.wait())
        async with open_at() as unit:
            yield unit

    assert await times.start_due(rename_meanwhile) == 1
    await asyncio.gather(*changing)

    assert await AUTOMATION_RUNS.count(services) == 5
    assert await AUTOMATIONS.only(services, "name", "next_at") == ("Renamed", morning + timedelta(days=1))


async def test_workers_that_start_the_runs_of_a_schedule_at_the_same_time_start_each_once(
    services: Services, unit_for: UnitFor, account: Opened, morning: datetime
) -> None:
    await asyncio.gather(*(look(unit_for, account, morning) for _ in range(3)))

    assert sorted(await AUTOMATION_RUNS.read(services, "contact_id")) == sorted(await CONTACTS.read(services, "id"))
    assert await AUTOMATIONS.only(services, "next_at") == morning + timedelta(days=1)

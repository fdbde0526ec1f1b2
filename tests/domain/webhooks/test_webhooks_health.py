"""Breakers, notices and giving up."""

import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from app.domain.webhooks.delivery_worker import PER_ENDPOINT
from app.domain.webhooks.health import Health
from app.domain.webhooks.schedule import Schedule, spell
from tests.domain.webhooks.harness import Harness
from tests.domain.webhooks.receivers import Post, status
from tests.factories.tables import ago
from tests.factories.webhooks import WEBHOOK_SUBSCRIPTIONS
from tests.waiting import until, within

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
SCHEDULE = Schedule()


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def healthy() -> Health:
    return Health(failures=0, trips=0, open_until=None, failing_since=None, noticed=0)


def failing(health: Health, times: int, at: datetime = NOON) -> Health:
    for _ in range(times):
        health.fail(at, SCHEDULE)
    return health


def test_the_breaker_opens_for_30_seconds_after_five_failures_in_a_row() -> None:
    health = failing(healthy(), 4)
    closed = not health.is_open(NOON)

    health.fail(NOON, SCHEDULE)

    assert closed
    assert health.open_until == NOON + seconds(30)
    assert (health.is_open(NOON + seconds(29.9)), health.is_open(NOON + seconds(30))) == (True, False)
    assert health.is_half_open


def test_failures_in_flight_when_the_breaker_opened_do_not_open_it_for_longer() -> None:
    health = failing(healthy(), 13)

    assert (health.trips, health.open_until) == (1, NOON + seconds(30))


def test_each_probe_that_fails_opens_the_breaker_for_longer() -> None:
    health, now, waits = failing(healthy(), 5), NOON, list[float]()

    for _ in range(6):
        assert health.open_until
        waits.append((health.open_until - now).total_seconds())
        now = health.open_until
        health.fail(now, SCHEDULE)

    assert waits == [30, 60, 120, 300, 600, 600]


def test_one_success_resets_everything() -> None:
    health = failing(healthy(), 7)
    health.due_notice(NOON + timedelta(days=2), SCHEDULE)

    health.succeed(NOON)

    assert health == Health(0, 0, None, None, 0, last_success_at=NOON)


def test_the_account_is_told_after_an_hour_and_after_a_day_once_each() -> None:
    health = failing(healthy(), 1)
    hours = [0.9, 1, 2, 23.9, 24, 71]

    notices = [health.due_notice(NOON + timedelta(hours=each), SCHEDULE) for each in hours]

    assert notices == [None, "1 hour", None, None, "1 day", None]


def test_of_two_notices_that_are_due_the_later_one_is_given() -> None:
    health = failing(healthy(), 1)

    assert health.due_notice(NOON + timedelta(hours=30), SCHEDULE) == "1 day"
    assert health.due_notice(NOON + timedelta(hours=31), SCHEDULE) is None


def test_giving_up_takes_72_hours_without_success() -> None:
    health = failing(healthy(), 1)

    assert not health.is_failing_for_too_long(NOON + timedelta(hours=71.9), SCHEDULE)
    assert health.is_failing_for_too_long(NOON + timedelta(hours=72), SCHEDULE)
    assert not healthy().is_failing_for_too_long(NOON, SCHEDULE)


def test_the_schedule_of_retries_spans_76_hours_in_eleven_attempts() -> None:
    waits = [SCHEDULE.wait(attempt, None) for attempt in range(1, 12)]

    assert [wait is None for wait in waits] == [False] * 10 + [True]
    assert [each / 3600 for each in SCHEDULE.waits[3:]] == [0.5, 2, 5, 10, 14, 20, 24]
    assert sum(SCHEDULE.waits) == pytest.approx(75.6 * 3600, rel=0.01)


@given(st.integers(1, 10), st.one_of(st.none(), st.floats(0, 10**6)))
def test_the_wait_honors_retry_after_and_adds_at_most_a_fifth_to_the_schedule(
    attempt: int, retry_after: float | None
) -> None:
    planned, asked = SCHEDULE.waits[attempt - 1], min(retry_after or 0, 36_000)

    wait = SCHEDULE.wait(attempt, retry_after)

    assert wait is not None
    assert max(planned, asked) - 1e-6 <= wait.total_seconds() <= max(planned * 1.2, asked) + 1e-6


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (259_200, "3 days"),
        (86_400, "1 day"),
        (3600, "1 hour"),
        (5400, "90 minutes"),
        (45, "45 seconds"),
        (0.5, "0.5 seconds"),
        (1, "1 second"),
    ],
)
def test_a_duration_is_spelled_in_its_largest_unit(count: float, words: str) -> None:
    assert spell(count) == words


async def test_while_the_breaker_is_open_no_attempt_is_burnt_and_one_probe_closes_it(harness: Harness) -> None:
    harness.pace(breaker_waits=(60,), waits=(60,))
    harness.receiver.respond = status(500)
    subscription = await harness.subscribe()
    for contact in range(20):
        await harness.tell("won", contact_id=contact)
    async with harness.at_work():
        await until(lambda: has_trips(harness, subscription.id, 1))
        opened, burnt, tried = (
            await harness.subscription(subscription.id),
            await harness.states(),
            len(harness.receiver.posts),
        )
        await harness.tell("lost", contact_id=20)
        await until(lambda: has_deliveries(harness, 21))
        due = await harness.engine.due()
        harness.receiver.respond = held = Once()
        await WEBHOOK_SUBSCRIPTIONS.change(harness.pool, open_until=ago(), wake_at=ago())
        await harness.receiver.expect(tried + 1)
        await asyncio.sleep(0.05)
        probes = len(harness.receiver.posts) - tried
        held.go.set()
        await harness.receiver.expect(21)
        await until(harness.is_at_rest)

    assert opened["wake_at"] == opened["open_until"] > opened["failing_since"]
    assert (opened["trips"], opened["failures"], due) == (1, tried, False)
    assert 5 <= tried < 5 + PER_ENDPOINT
    assert [attempts for _, attempts in burnt].count(1) == tried
    assert probes == 1
    closed = await harness.subscription(subscription.id)
    assert (closed["open_until"], closed["failures"], closed["trips"], closed["failing_since"]) == (None, 0, 0, None)
    assert closed["last_success_at"] is not None
    assert [state for state, _ in await harness.states()].count("delivered") == 21 - tried


async def has_deliveries(harness: Harness, count: int) -> bool:
    return len(await harness.states()) == count


class Once:
    """Answers 200 when it is let go."""

    def __init__(self) -> None:
        self.go = asyncio.Event()

    async def __call__(self, _: Post) -> web.Response:
        await within("the test to let it go on", self.go.wait())
        return web.Response()


async def test_a_probe_that_fails_burns_one_attempt_and_opens_the_breaker_for_longer(harness: Harness) -> None:
    harness.pace(breaker_waits=(0.05, 0.05, 60), waits=(60,))
    harness.receiver.respond = status(500)
    subscription = await harness.subscribe()
    for contact in range(20):
        await harness.tell("won", contact_id=contact)
    async with harness.at_work():
        await until(lambda: has_trips(harness, subscription.id, 3))
        await until(harness.is_at_rest)

    tried = [attempts for _, attempts in await harness.states()].count(1)
    assert tried == len(harness.receiver.posts)
    assert (await harness.subscription(subscription.id))["failures"] == tried <= 10


async def has_trips(harness: Harness, id: int, count: int) -> bool:
    return (await harness.subscription(id))["trips"] == count


async def test_a_webhook_that_keeps_failing_is_reported_and_then_disabled_with_its_deliveries(harness: Harness) -> None:
    harness.pace(waits=(60,) * 20, breaker_waits=(60,), notice_after=(3600, 86_400), disable_after=259_200)
    clock = harness.set_clock()
    harness.receiver.respond = status(500)
    subscription = await harness.subscribe()
    for contact in range(20):
        await harness.tell("won", contact_id=contact)
    async with harness.at_work():
        for trips, hours in enumerate((0.9, 0.2, 22, 1, 47, 2), 1):
            await until(partial(has_come_to_rest, harness, subscription.id, trips))
            clock.move(hours=hours)
        await until(lambda: has_status(harness, subscription.id, "disabled"))
        await harness.tell("lost")
        await until(lambda: is_skipped(harness, 21))
        tried = len(harness.receiver.posts)

    url = f"{harness.receiver.url}/hook"
    assert await harness.notices() == [
        ("failing", f"{url} has been failing for 1 hour; 3 days without success disable it."),
        ("failing", f"{url} has been failing for 1 day; 3 days without success disable it."),
        ("disabled", f"{url} was disabled after 3 days without success."),
    ]
    assert len(harness.receiver.posts) == tried
    assert not await harness.engine.due()


async def has_come_to_rest(harness: Harness, id: int, trips: int) -> bool:
    return await has_trips(harness, id, trips) and await harness.is_at_rest()


async def has_status(harness: Harness, id: int, wanted: str) -> bool:
    return (await harness.subscription(id))["status"] == wanted


async def is_skipped(harness: Harness, count: int) -> bool:
    return [state for state, _ in await harness.states()] == ["skipped"] * count


async def test_nine_events_that_fail_do_not_disable_a_webhook(harness: Harness) -> None:
    harness.pace(waits=(60,) * 20, breaker_waits=(60,), disable_after=86_400)
    clock = harness.set_clock()
    harness.receiver.respond = status(500)
    subscription = await harness.subscribe()
    for contact in range(9):
        await harness.tell("won", contact_id=contact)
    async with harness.at_work():
        for trips in range(1, 8):
            await until(partial(has_come_to_rest, harness, subscription.id, trips))
            clock.move(hours=12)
        await until(partial(has_come_to_rest, harness, subscription.id, 8))
        nine = (await harness.subscription(subscription.id))["status"], await harness.states()
        await harness.tell("won", contact_id=10)
        await until(lambda: has_deliveries(harness, 10))
        clock.move(hours=12)
        await until(lambda: has_status(harness, subscription.id, "disabled"))

    assert nine[0] == "active"
    assert [(state, attempts > 0) for state, attempts in nine[1]] == [("pending", True)] * 9
    assert await is_skipped(harness, 10)


async def test_as_many_notices_are_given_as_the_settings_say(harness: Harness) -> None:
    harness.pace(waits=(0.02,) * 10_000, breaker_waits=(0.02,), notice_after=(100, 200, 300))
    harness.receiver.respond = status(500)
    await harness.subscribe()
    await harness.tell("won")
    async with harness.at_work():
        for count in (1, 2, 3):
            await until(partial(is_told, harness, count))

    assert {kind for kind, _ in await harness.notices()} == {"failing"}


async def is_told(harness: Harness, count: int) -> bool:
    """Have it fail for long enough, while a worker that delivers writes the state that it read before."""
    await WEBHOOK_SUBSCRIPTIONS.change(harness.pool, failing_since=ago(seconds=100 * count + 50))
    return len(await harness.notices()) == count

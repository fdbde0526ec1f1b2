"""Steps obey quiet hours and caps: when their time is computed, and again when they are sent."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.bootstrap import open_drip
from app.db.engine import Pool
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.unit_of_work import Actor, open_unit
from app.domain.messages.acceptor import SendAcceptor
from app.domain.onboarding.service import Opened
from app.domain.quiet_hours.laws import LAWS
from app.domain.quiet_hours.limits import Recipient
from app.domain.quiet_hours.rules import Rulebook, Weekday
from app.domain.quiet_hours.windows import JITTER
from app.domain.quiet_hours.zones import find_place
from app.domain.sequences import enrollments, service
from app.domain.sequences.definition import NewStep, SendWindow
from app.domain.sequences.schedule import Delay, due_at, shift
from app.domain.sequences.steps import Drip
from app.services import Services
from tests.domain.sequences.conftest import PHONE, bodies, standing
from tests.factories.clocks import At
from tests.factories.quiet_hours import obey_the_law
from tests.factories.sequences import SEQUENCE_ENROLLMENTS, SEQUENCES

NOON = datetime(2030, 1, 15, 17, tzinfo=UTC)
NIGHT = datetime(2030, 1, 16, 2, tzinfo=UTC)
MORNING = datetime(2030, 1, 16, 13, tzinfo=UTC)
THURSDAY = SendWindow("09:00", "12:00", (Weekday.thursday,))
THURSDAY_AT_NINE = datetime(2030, 1, 17, 14, tzinfo=UTC)
FIRST, LAST = datetime.fromisoformat("2026-01-01"), datetime.fromisoformat("2028-01-01")


@pytest.fixture(autouse=True)
async def law(pool: Pool, account: Opened) -> None:
    """Let the account obey the rules of law only."""
    await obey_the_law(pool)


@pytest.fixture
def clock() -> At:
    """Provide a clock that stands at noon."""
    return At(NOON)


@pytest.fixture
def drip(services: Services, clock: At) -> Drip:
    """Provide the sender of due steps, with that clock."""
    acceptor = SendAcceptor(services.database.pool, clock, services.notify, services.connections)
    return replace(open_drip(services), clock=clock, acceptor=acceptor)


@pytest.fixture
def enroll_at(
    services: Services, account: Opened, clock: At, contact_id: int, make: Callable[..., Awaitable[int]]
) -> Callable[..., Awaitable[datetime]]:
    """Provide a function that enrolls the contact in a sequence of steps; it returns the time of the first."""

    async def enroll(*steps: NewStep) -> datetime:
        id = await make(*steps)
        actor = Actor(account.account_id, frozenset(), "key:7")
        async with open_unit(services.database.sessions, actor, clock, services.notify) as unit:
            return (await enrollments.enroll(unit, id, contact_id)).next_send_at

    return enroll


def is_spread_from(instant: datetime, opening: datetime) -> bool:
    return opening <= instant <= opening + JITTER


def new_yorker() -> Recipient:
    return Recipient(find_place("+12122345678"), Rulebook(LAWS), 6)


async def test_the_first_step_of_an_enrollment_at_night_is_due_in_the_morning(
    enroll_at: Callable[..., Awaitable[datetime]], clock: At
) -> None:
    clock.instant = NIGHT

    assert is_spread_from(await enroll_at(NewStep(0, "Hello")), MORNING)


async def test_a_step_that_comes_due_in_quiet_hours_is_put_off_without_an_attempt(
    enroll_at: Callable[..., Awaitable[datetime]], drip: Drip, clock: At, pool: Pool
) -> None:
    assert await enroll_at(NewStep(0, "Hello")) == NOON
    clock.instant = NIGHT
    await drip.run()

    due, attempts = await SEQUENCE_ENROLLMENTS.only(pool, "next_send_at", "attempts")
    assert is_spread_from(due, MORNING)
    assert attempts == 0
    assert await bodies(pool) == []

    clock.instant = due
    await drip.run()
    assert await bodies(pool) == ["Hello"]


async def test_the_time_of_the_next_step_is_within_the_window(
    enroll_at: Callable[..., Awaitable[datetime]], drip: Drip, clock: At, pool: Pool
) -> None:
    await enroll_at(NewStep(0, "One"), NewStep(9 * 60, "Two"))
    await drip.run()

    assert is_spread_from(await SEQUENCE_ENROLLMENTS.only(pool, "next_send_at"), MORNING)


async def test_a_cap_puts_a_step_off_until_it_frees(
    enroll_at: Callable[..., Awaitable[datetime]], drip: Drip, pool: Pool
) -> None:
    await enroll_at(*[NewStep(0, str(number)) for number in range(7)])
    for _ in range(7):
        await drip.run()

    assert await bodies(pool) == ["0", "1", "2", "3", "4", "5"]
    assert is_spread_from(await SEQUENCE_ENROLLMENTS.only(pool, "next_send_at"), NOON + timedelta(days=7))
    assert await standing(pool) == [("active", "", 7)]


async def test_steps_wait_for_their_time_of_the_recipients_day(
    enroll_at: Callable[..., Awaitable[datetime]], drip: Drip, clock: At, pool: Pool
) -> None:
    first = await enroll_at(NewStep(0, "One", at="13:30"), NewStep(0, "Two", at="10:00"))
    assert first == NOON + timedelta(hours=1, minutes=30)
    clock.instant = first
    await drip.run()

    assert await bodies(pool) == ["One"]
    assert await SEQUENCE_ENROLLMENTS.only(pool, "next_send_at") == NOON + timedelta(hours=22)


async def test_a_step_at_no_time_of_a_day_is_refused(make: Callable[..., Awaitable[int]]) -> None:
    with pytest.raises(InvalidInput, match=r"steps\[0\]\.at must be a time"):
        await make(NewStep(0, "Hello", at="25:00"))


async def test_a_step_after_more_than_a_year_of_days_is_refused(make: Callable[..., Awaitable[int]]) -> None:
    for days in (-1, 366):
        with pytest.raises(InvalidInput, match="delay_days"):
            await make(NewStep(0, "Hello", delay_days=days))


@pytest.mark.parametrize(
    ("start", "delay", "due"),
    [
        ("2026-03-07T15:00", (1, 0), "2026-03-08T14:00"),
        ("2026-03-07T15:00", (0, 1440), "2026-03-08T15:00"),
        ("2026-10-31T15:00", (1, 0), "2026-11-01T16:00"),
        ("2026-10-31T15:00", (0, 1440), "2026-11-01T15:00"),
        ("2026-10-31T15:00", (1, 30), "2026-11-01T16:30"),
        ("2026-03-07T15:00", (0, 0, 600), "2026-03-07T15:00"),
        ("2026-03-07T15:01", (0, 0, 600), "2026-03-08T14:00"),
        ("2026-10-31T15:00", (1, 30, 600), "2026-11-02T15:00"),
        ("2026-10-31T12:00", (1, 0, 600), "2026-11-01T15:00"),
    ],
)
def test_a_day_keeps_the_time_of_the_day_and_24_hours_are_exact(start: str, delay: tuple[int, int], due: str) -> None:
    began, expected = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in (start, due))

    assert due_at(new_yorker(), began, Delay(*delay), seed=1) == expected


@given(
    start=st.datetimes(FIRST, LAST, timezones=st.just(UTC)),
    days=st.integers(0, 30),
    minutes=st.integers(0, 3000),
    phone=st.sampled_from(["+12122345678", "+12702345678", "+13052345678", "+61412345678", PHONE]),
)
def test_a_step_is_never_due_before_its_delay_nor_outside_the_window(
    start: datetime, days: int, minutes: int, phone: str
) -> None:
    recipient = Recipient(find_place(phone), Rulebook(LAWS), 6)
    due = due_at(recipient, start, Delay(days, minutes), seed=minutes)

    assert due >= start + timedelta(days=days, minutes=minutes) - timedelta(hours=2)
    assert due == due_at(recipient, due, Delay(0, 0), seed=1)


@pytest.mark.parametrize("comes_before", [True, False], ids=["before", "after"])
async def test_a_step_waits_for_the_window_of_its_sequence(
    enroll_at: Callable[..., Awaitable[datetime]],
    act: Callable[..., Any],
    drip: Drip,
    clock: At,
    pool: Pool,
    *,
    comes_before: bool,
) -> None:
    async def set_window() -> None:
        async with act() as unit:
            await service.change(unit, await SEQUENCES.only(pool, "id"), {"window": THURSDAY})

    assert await enroll_at(NewStep(0, "One"), NewStep(60, "Two")) == NOON
    if comes_before:
        await set_window()
    await drip.run()
    await set_window()
    clock.instant += timedelta(hours=1)
    await drip.run()

    assert await bodies(pool) == ([] if comes_before else ["One"])
    assert is_spread_from(await SEQUENCE_ENROLLMENTS.only(pool, "next_send_at"), THURSDAY_AT_NINE)


async def test_an_enrollment_is_due_in_the_window_of_its_sequence(
    services: Services, account: Opened, act: Callable[..., Any], clock: At, contact_id: int
) -> None:
    actor = Actor(account.account_id, frozenset(), "key:7")
    async with open_unit(services.database.sessions, actor, clock, services.notify) as unit:
        made = await service.create(unit, "Windowed", [NewStep(0, "One")], {"window": THURSDAY})
        enrolled = await enrollments.enroll(unit, made.id, contact_id)

    assert is_spread_from(enrolled.next_send_at, THURSDAY_AT_NINE)


def test_a_missed_step_keeps_its_time_of_the_day_when_the_clocks_change() -> None:
    berlin = Recipient(find_place("+491711234567", "Europe/Berlin"), Rulebook(LAWS), 6)
    missed = datetime(2030, 3, 29, 9, 30, tzinfo=UTC)  # 10:30 in Berlin, two days before summer time

    at = shift(berlin, missed, datetime(2030, 3, 31, 12, tzinfo=UTC), 1)

    assert at == datetime(2030, 4, 1, 8, 30, tzinfo=UTC)

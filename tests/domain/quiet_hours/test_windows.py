"""Windows: the first open time in every zone, also across changes of the clock."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.quiet_hours.laws import LAWS
from app.domain.quiet_hours.rules import Rulebook
from app.domain.quiet_hours.windows import HORIZON, JITTER, Span, Week, find_open, is_open, spread
from app.domain.quiet_hours.zones import Place, ZoneReason

EASTERN, CENTRAL = "America/New_York", "America/Chicago"
BOOK = Rulebook(LAWS)

ZONES = (
    "America/New_York",
    "America/Chicago",
    "America/Los_Angeles",
    "America/Phoenix",
    "America/St_Johns",
    "Pacific/Honolulu",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Australia/Eucla",
    "Pacific/Chatham",
    "Europe/London",
    "Africa/Casablanca",
    "America/Havana",
)
"""Zones with and without summer time, with odd offsets, with half an hour of summer time, with a change at midnight."""

FIRST, LAST = datetime.fromisoformat("2026-01-01"), datetime.fromisoformat("2028-01-01")
MOMENTS = st.datetimes(FIRST, LAST, timezones=st.just(UTC))
SPANS = st.tuples(st.integers(0, 1439), st.integers(30, 1440)).map(lambda pair: Span(pair[0], min(1440, sum(pair))))
WEEKS = st.tuples(*[st.just(Span(0, 0)) | SPANS] * 7)
SETS = st.lists(st.sampled_from(ZONES), min_size=1, max_size=3, unique=True)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def daily(start: int, end: int) -> Week:
    return (Span(60 * start, 60 * end),) * 7


@pytest.mark.parametrize(
    ("now", "zones", "jurisdiction", "expected"),
    [
        ("2026-11-21T01:59", [EASTERN], "US-NY", "2026-11-21T01:59"),
        ("2026-11-21T02:00", [EASTERN], "US-NY", "2026-11-21T13:00"),
        ("2026-11-21T01:00", [EASTERN], "US-FL", "2026-11-21T13:00"),
        ("2026-11-21T00:59", [EASTERN], "US-FL", "2026-11-21T00:59"),
        ("2026-11-21T13:30", [EASTERN, CENTRAL], "US-FL", "2026-11-21T14:00"),
        ("2026-11-23T13:10", [EASTERN, CENTRAL], "US", "2026-11-23T14:00"),
        ("2026-11-23T13:10", [EASTERN, CENTRAL], "US-KY", "2026-11-23T16:00"),
        ("2026-11-22T16:00", [CENTRAL], "US-TX", "2026-11-22T18:00"),
        ("2026-11-21T14:00", [EASTERN, "America/Los_Angeles", "Pacific/Honolulu"], "US", "2026-11-21T18:00"),
        ("2026-03-08T11:30", [EASTERN], "US-NY", "2026-03-08T12:00"),
        ("2026-11-01T12:30", [EASTERN], "US-NY", "2026-11-01T13:00"),
        ("2026-07-01T03:59", ["America/Phoenix"], "US-AZ", "2026-07-01T03:59"),
        ("2026-11-22T18:00", [CENTRAL], "US-AL", "2026-11-23T14:00"),
        ("2026-11-21T22:00", [EASTERN], "US-RI", "2026-11-23T14:00"),
        ("2026-11-21T22:00", ["Europe/London"], "GB", "2026-11-22T08:00"),
    ],
)
def test_a_text_leaves_at_the_next_time_that_is_open_in_every_zone(
    now: str, zones: list[str], jurisdiction: str, expected: str
) -> None:
    assert find_open(at(now), zones, BOOK.week(jurisdiction)) == at(expected)


def test_the_end_of_a_window_is_closed_and_its_start_is_open_to_the_microsecond() -> None:
    week, tick = daily(8, 21), timedelta(microseconds=1)

    assert not is_open(at("2026-11-21T02:00"), [EASTERN], week)
    assert is_open(at("2026-11-21T02:00") - tick, [EASTERN], week)
    assert is_open(at("2026-11-21T13:00"), [EASTERN], week)
    assert not is_open(at("2026-11-21T13:00") - tick, [EASTERN], week)


def test_a_window_in_the_hour_that_is_left_out_opens_when_the_clock_is_changed() -> None:
    assert find_open(at("2026-03-08T06:30"), [EASTERN], (Span(150, 720),) * 7) == at("2026-03-08T07:00")


def test_a_window_in_the_hour_that_comes_twice_opens_twice() -> None:
    week = (Span(90, 100),) * 7

    assert find_open(at("2026-11-01T05:00"), [EASTERN], week) == at("2026-11-01T05:30")
    assert find_open(at("2026-11-01T05:45"), [EASTERN], week) == at("2026-11-01T06:30")
    assert find_open(at("2026-11-01T06:10"), [EASTERN], week) == at("2026-11-01T06:30")


def test_zones_whose_windows_never_meet_have_no_open_time() -> None:
    assert find_open(at("2026-11-21T02:00"), ["Asia/Tokyo", EASTERN], daily(9, 12)) is None


def test_a_week_without_a_window_has_no_open_time() -> None:
    assert find_open(at("2026-11-21T02:00"), [EASTERN], daily(0, 0)) is None


@given(now=MOMENTS, zones=SETS, week=WEEKS)
def test_a_deferral_is_never_outside_the_window_of_a_zone_and_never_before_now(
    now: datetime, zones: list[str], week: Week
) -> None:
    found = find_open(now, zones, week)

    if found is not None:
        assert now <= found <= now + HORIZON + timedelta(days=2)
        for zone in zones:
            local = found.astimezone(ZoneInfo(zone))
            start, end = week[local.weekday()]
            assert start <= 60 * local.hour + local.minute + local.second / 60 < end


@given(now=MOMENTS, zones=SETS, week=WEEKS, minutes=st.integers(0, 4 * 24 * 60))
def test_no_earlier_time_would_have_been_open(now: datetime, zones: list[str], week: Week, minutes: int) -> None:
    found, earlier = find_open(now, zones, week), now + timedelta(minutes=minutes)

    if found is None or earlier < found:
        assert not is_open(earlier, zones, week)


@given(now=MOMENTS, zones=SETS, week=WEEKS, wait=st.timedeltas(timedelta(0), timedelta(days=3)))
def test_a_later_text_never_leaves_before_an_earlier_one(
    now: datetime, zones: list[str], week: Week, wait: timedelta
) -> None:
    first, second = find_open(now, zones, week), find_open(now + wait, zones, week)

    assert first is None or second is None or first <= second


@given(now=MOMENTS, zones=SETS, week=WEEKS, seed=st.integers(0, 2**62))
def test_a_deferred_text_is_spread_over_some_minutes_and_stays_in_the_window(
    now: datetime, zones: list[str], week: Week, seed: int
) -> None:
    opening = find_open(now, zones, week)

    if opening is not None:
        leaves = spread(opening, seed, zones, week)
        assert opening <= leaves <= opening + JITTER
        assert is_open(leaves, zones, week)
        assert leaves == spread(opening, seed, zones, week)


def test_many_texts_do_not_leave_in_the_same_minute() -> None:
    opening = at("2026-11-21T13:00")
    minutes = {spread(opening, seed, [EASTERN], daily(8, 21)).replace(second=0, microsecond=0) for seed in range(200)}

    assert minutes == {opening + timedelta(minutes=minute) for minute in range(20)}


@given(wall=st.datetimes(FIRST, LAST), zone=st.sampled_from(ZONES), week=WEEKS)
def test_a_local_time_is_on_the_clock_or_as_much_later_as_the_clock_skips_and_opens_in_its_window(
    wall: datetime, zone: str, week: Week
) -> None:
    instant = Place("US", (zone,), ZoneReason.contact).instant_of(wall)
    shown = instant.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    before = (instant - timedelta(hours=3)).astimezone(ZoneInfo(zone)).replace(tzinfo=None) + timedelta(hours=3)
    opened = find_open(instant, (zone,), week)

    assert shown == wall or shown - wall == shown - before > timedelta(0)
    assert all(
        (instant - timedelta(minutes=minutes)).astimezone(ZoneInfo(zone)).replace(tzinfo=None) != wall
        for minutes in (30, 60)
    )
    assert opened is None or (opened >= instant and is_open(opened, (zone,), week))


@pytest.mark.parametrize(
    ("wall", "expected"),
    [
        ("2026-03-08T02:30", "2026-03-08T07:30"),
        ("2026-03-08T03:30", "2026-03-08T07:30"),
        ("2026-11-01T01:30", "2026-11-01T05:30"),
        ("2026-11-27T10:00", "2026-11-27T15:00"),
    ],
)
def test_a_time_that_the_clock_skips_is_an_hour_later_and_one_that_it_shows_twice_is_the_first(
    wall: str, expected: str
) -> None:
    assert Place("US", (EASTERN,), ZoneReason.contact).instant_of(datetime.fromisoformat(wall)) == at(expected)

"""When a text may leave: the daily windows of a week, in every time zone of the recipient.

An instant is open when each zone's local time t satisfies `start <= t < end` in the window of its local date. Local
times are computed by `zoneinfo` for each instant, so a change to or from summer time needs no rule of its own.
"""

import hashlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from typing import NamedTuple

from app.domain.kernel.time_zones import ZoneInfo

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
HORIZON = timedelta(days=14)
"""The time within which an open instant is searched for: a week, and the days around it."""

JITTER = timedelta(minutes=20)
"""The most by which a deferred text leaves after its window opens, so that not all leave in the same second."""


class Span(NamedTuple):
    """A window of one day: minutes after midnight, from `start` to before `end`; empty where they are equal."""

    start: int
    end: int

    def __contains__(self, minute: object) -> bool:
        """Return whether a minute of the day is in the window."""
        return isinstance(minute, int) and self.start <= minute < self.end


Week = tuple[Span, Span, Span, Span, Span, Span, Span]
"""The windows from Monday to Sunday."""

WHOLE_DAY = Span(0, 24 * 60)
OPEN_WEEK: Week = (WHOLE_DAY, WHOLE_DAY, WHOLE_DAY, WHOLE_DAY, WHOLE_DAY, WHOLE_DAY, WHOLE_DAY)


def find_open(instant: datetime, zones: Sequence[str], week: Week) -> datetime | None:
    """Return the first instant, now or later, that is open in every zone; None if there is none within `HORIZON`."""
    minute = instant.astimezone(UTC).replace(second=0, microsecond=0)
    found = _find_minute(minute, tuple(zones), week)
    return instant if found == minute else found


def is_open(instant: datetime, zones: Sequence[str], week: Week) -> bool:
    """Return whether an instant is open in every zone."""
    return all(_is_open(instant, _zone(name), week) for name in zones)


def spread(opening: datetime, seed: int, zones: Sequence[str], week: Week) -> datetime:
    """Return an instant up to `JITTER` after an opening, always the same for a seed, and open as well."""
    digest = hashlib.blake2b(seed.to_bytes(8, "big", signed=True), digest_size=4).digest()
    delay = JITTER * (int.from_bytes(digest, "big") / 2**32)
    later = (opening + delay / part for part in (1, 8))
    return next((each for each in later if is_open(each, zones, week)), opening)


@lru_cache(4096)
def narrow(week: Week, within: Week) -> Week:
    """Return the windows of a week as far as they are within those of another."""
    days = [intersect(pair) for pair in zip(week, within, strict=True)]
    return (days[0], days[1], days[2], days[3], days[4], days[5], days[6])


def intersect(spans: Iterable[Span]) -> Span:
    """Return the window that is in all windows of a day."""
    found = WHOLE_DAY
    for each in spans:
        found = Span(max(found.start, each.start), min(found.end, each.end))
    return found if found.start < found.end else Span(0, 0)


@lru_cache(65536)
def _find_minute(minute: datetime, zones: tuple[str, ...], week: Week) -> datetime | None:
    latest, found = minute + HORIZON, minute
    while found <= latest:
        openings = [_find_opening(found, _zone(name), week) for name in zones]
        if None in openings:
            return None
        last = max((each for each in openings if each), default=found)
        if last == found:
            return found
        found = last
    return None


def _find_opening(minute: datetime, zone: ZoneInfo, week: Week) -> datetime | None:
    """Return the first open minute of a zone, the given one or a later one."""
    if _is_open(minute, zone, week):
        return minute
    local = minute.astimezone(zone)
    for days in range(9):
        date = local.date() + DAY * days
        span = week[date.weekday()]
        if span.start >= span.end:
            continue
        for fold in (0, 1):  # a clock that is set back shows the start of the window twice
            opening = datetime.combine(date, time(*divmod(span.start, 60), fold=fold), zone)
            if opening.astimezone(UTC) > minute:
                return _before_clock_change(minute, opening, week)
    return None


def _before_clock_change(minute: datetime, opening: datetime, week: Week) -> datetime:
    """Return an opening, or the earlier one of a clock that is changed in between: it may be open for an hour twice."""
    found, zone = opening.astimezone(UTC), opening.tzinfo
    assert isinstance(zone, ZoneInfo)
    if minute.astimezone(zone).utcoffset() == found.astimezone(zone).utcoffset():
        return found
    while minute < found and not _is_open(minute, zone, week):
        minute += MINUTE
    return minute


def _is_open(instant: datetime, zone: ZoneInfo, week: Week) -> bool:
    local = instant.astimezone(zone)
    return 60 * local.hour + local.minute in week[local.weekday()]


@lru_cache(1024)
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)

"""The time of a step: its delay in the recipient's calendar, then the next time that quiet hours allow."""

from collections.abc import Collection
from datetime import datetime, time, timedelta
from typing import NamedTuple

from app.domain.kernel.time_zones import ZoneInfo
from app.domain.quiet_hours import limits
from app.domain.quiet_hours.limits import Recipient
from app.domain.quiet_hours.rules import EVERY_DAY
from app.domain.quiet_hours.windows import OPEN_WEEK, Span, Week

NEVER_OPEN = timedelta(days=14)
"""The wait of a step for a recipient whose zones are never open together."""

RETRIES = (timedelta(hours=1), timedelta(hours=6), timedelta(hours=17))
"""The waits after the first, second and third refusal or failure of a step; a day in total."""

CLOSED = Span(0, 0)


class Delay(NamedTuple):
    """The delay of a step: days of the recipient's calendar, then minutes, then the next `at_minute` of a day."""

    days: int
    minutes: int
    at_minute: int | None = None


def week_of(start: int | None, end: int | None, weekdays: Collection[str]) -> Week:
    """Return the window of a sequence on each day of the week: minutes of the day, on some weekdays; None for none."""
    if start is None or end is None:
        return OPEN_WEEK
    days = [Span(start, end) if day in weekdays else CLOSED for day in EVERY_DAY]
    return (days[0], days[1], days[2], days[3], days[4], days[5], days[6])


def due_at(recipient: Recipient, start: datetime, delay: Delay, seed: int, apart: timedelta = timedelta()) -> datetime:
    """Return when a step is due: its delay after an instant, and not before the recipient's window is open.

    After some days it is the same time of the day in the recipient's zone, that of most
    people where there are several, also when the clock was changed in between; minutes are exact. The step is at least
    `apart` from the instant.
    """
    zone = ZoneInfo(recipient.place.zones[0])
    local = start.astimezone(zone)
    day = datetime.combine(local.date() + timedelta(days=delay.days), local.time(), zone) if delay.days else start
    wanted = max(day.astimezone(start.tzinfo) + timedelta(minutes=delay.minutes), start + apart)
    if delay.at_minute is not None:
        wanted = _next_at(wanted, zone, delay.at_minute)
    return open_at(recipient, wanted, seed)


def shift(recipient: Recipient, missed: datetime, now: datetime, seed: int) -> datetime:
    """Return when a step is due that was missed for long: the next time that is as late in the recipient's day."""
    zone = ZoneInfo(recipient.place.zones[0])
    local = missed.astimezone(zone)
    return open_at(recipient, _next_at(now, zone, 60 * local.hour + local.minute), seed)


def open_at(recipient: Recipient, wanted: datetime, seed: int) -> datetime:
    """Return the first time, from a wanted one on, that the recipient's window and caps allow."""
    deferral = limits.decide(recipient, wanted, seed).deferral
    return wanted if deferral is None else deferral.until or wanted + NEVER_OPEN


def _next_at(instant: datetime, zone: ZoneInfo, minute: int) -> datetime:
    """Return the first instant, not before another, at a minute of the day in a zone."""
    today, clock = instant.astimezone(zone).date(), time(minute // 60, minute % 60)
    days = (datetime.combine(today + timedelta(days=after), clock, zone) for after in range(3))
    return next(day.astimezone(instant.tzinfo) for day in days if day.astimezone(instant.tzinfo) >= instant)

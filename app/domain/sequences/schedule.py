"""The time of a step: its delay in the recipient's calendar, then the next time that quiet hours allow."""

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from app.domain.quiet_hours import limits
from app.domain.quiet_hours.limits import Recipient

NEVER_OPEN = timedelta(days=14)
"""The wait of a step for a recipient whose zones are never open together."""


def due_at(
    recipient: Recipient, start: datetime, delay: tuple[int, int], seed: int, apart: timedelta = timedelta()
) -> datetime:
    """Return when a step is due: its delay after an instant, and not before the recipient's window is open.

    `delay` is in days and minutes. After some days it is the same time of the day in the recipient's zone, that of most
    people where there are several, also when the clock was changed in between; minutes are exact. The step is at least
    `apart` from the instant.
    """
    days, minutes = delay
    zone = ZoneInfo(recipient.place.zones[0])
    local = start.astimezone(zone)
    day = (
        datetime.combine(
            local.date() + timedelta(days=days),
            local.time(),
            zone,
        )
        if days
        else start
    )
    wanted = max(day.astimezone(start.tzinfo) + timedelta(minutes=minutes), start + apart)
    deferral = limits.decide(recipient, wanted, seed).deferral
    if deferral is None:
        return wanted
    return deferral.until or wanted + NEVER_OPEN

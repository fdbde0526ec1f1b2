"""The hours for which a former secret or key still works after its rotation."""

from datetime import datetime, timedelta

from app.domain.kernel.errors import InvalidInput

MAX_HOURS = 72


def end(now: datetime, hours: int) -> datetime:
    """Return the time until which the former one works; raise `InvalidInput`."""
    if not 0 <= hours <= MAX_HOURS:
        raise InvalidInput(reason=f"overlap_hours must be from 0 to {MAX_HOURS}.", field="overlap_hours")
    return now + timedelta(hours=hours)

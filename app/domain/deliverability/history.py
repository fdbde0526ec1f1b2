"""The texts of an account by day or hour, from the hourly sums of its numbers."""

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from sqlalchemy import func, select

from app.domain.deliverability.models import NumberHour
from app.domain.kernel import time_zones
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.time_zones import ZoneInfo
from app.domain.kernel.unit_of_work import UnitOfWork

DEFAULT_DAYS = 30
HOUR = timedelta(hours=1)


class Bucket(enum.StrEnum):
    """The length of a period."""

    hour = enum.auto()
    day = enum.auto()


MAX_DAYS = {Bucket.hour: 14, Bucket.day: 366}


@dataclass(frozen=True, slots=True)
class DeliveryPoint:
    """The texts that left in the period from `start`, and the replies and opt-outs that arrived in it."""

    start: datetime
    sent: int = 0
    delivered: int = 0
    failed: int = 0
    replies: int = 0
    opt_outs: int = 0


async def find_history(unit: UnitOfWork, days: int, bucket: Bucket, time_zone: str) -> Sequence[DeliveryPoint]:
    """Return the periods of the last days of a time zone, today included, the earliest first; raise `InvalidInput`.

    Periods without texts are part of it, with zeros. An hour of the sums that reaches into two days of the zone counts
    for the earlier one.
    """
    if not 1 <= days <= MAX_DAYS[bucket]:
        raise InvalidInput(reason=f"days must be from 1 to {MAX_DAYS[bucket]} for each {bucket}.", field="days")
    zone = ZoneInfo(time_zones.checked(time_zone))
    now = unit.clock.now().astimezone(zone)
    first = datetime.combine(now.date() - timedelta(days=days - 1), time(), zone)
    start = func.date_trunc(bucket.value, NumberHour.hour, zone.key)
    sums = [
        func.sum(each)
        for each in (
            NumberHour.sent,
            NumberHour.delivered,
            NumberHour.failed,
            NumberHour.replies,
            NumberHour.opt_outs,
        )
    ]
    own = NumberHour.account_id == unit.actor.account_id, NumberHour.hour >= first
    rows = await unit.rows(select(start, *sums).where(*own).group_by(start))
    found = {at: DeliveryPoint(at, *map(int, counts)) for at, *counts in rows}
    return [found.get(at) or DeliveryPoint(at) for at in sorted({*_starts(first, now, bucket), *found})]


def _starts(first: datetime, now: datetime, bucket: Bucket) -> Iterator[datetime]:
    """Yield the starts of the periods until now, in UTC: for days, midnight of the zone."""
    if bucket is Bucket.day:
        for after in range((now.date() - first.date()).days + 1):
            midnight = datetime.combine(first.date() + timedelta(days=after), time(), first.tzinfo)
            yield midnight.astimezone(UTC)
        return
    at = first.astimezone(UTC)
    while at <= now:
        yield at
        at += HOUR

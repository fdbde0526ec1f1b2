"""Delivery rates with their uncertainty, by number, destination, hour of the day or number of parts."""

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, Text, cast, func, select

from app.domain.deliverability.models import NumberHour
from app.domain.kernel.errors import InvalidInput, NotFound
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.numbers import queries as numbers

MAX_DAYS, MAX_GROUPS = 365, 1000
FEWEST = 30
"""The number of final results below which a rate is marked as a low sample."""

Z = 1.959964
"""The standard score of a confidence of 95 %."""

COUNTED = (
    NumberHour.sent,
    NumberHour.delivered,
    NumberHour.failed,
    NumberHour.filtered,
    NumberHour.unreachable,
    NumberHour.refused,
)
"""The figures of a rate, in the order of `DeliveryRate`; those of the health of a number begin with them."""


class RateGroup(enum.StrEnum):
    """The grouping of delivery rates."""

    number = enum.auto()
    carrier = enum.auto()
    region = enum.auto()
    hour = enum.auto()
    segments = enum.auto()


@dataclass(frozen=True, slots=True)
class Interval:
    """The bounds between which a share lies with a confidence of 95 % (Wilson score interval)."""

    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class DeliveryRate:
    """The texts of a group that left in a period, and the share of the final ones that was delivered.

    `rate` is None without final results. `refused` texts, which the carrier took for no recipient, count in no share.
    """

    key: str
    sent: int
    delivered: int
    failed: int
    filtered: int
    unreachable: int
    refused: int

    @property
    def final(self) -> int:
        """Return the number of texts with a result of the network."""
        return self.delivered + self.failed

    @property
    def rate(self) -> float | None:
        """Return the delivered share of the final texts."""
        return self.delivered / self.final if self.final else None

    @property
    def interval(self) -> Interval:
        """Return the bounds of the rate."""
        return wilson(self.delivered, self.final)

    @property
    def pending(self) -> int:
        """Return the number of texts that left and have no result yet."""
        return max(0, self.sent - self.final)

    @property
    def is_low_sample(self) -> bool:
        """Return whether there are too few results for a judgement."""
        return self.final < FEWEST


def wilson(successes: int, trials: int) -> Interval:
    """Return the Wilson score interval of a share; everything is possible without trials."""
    if trials == 0:
        return Interval(0.0, 1.0)
    share, square = successes / trials, Z * Z
    middle = (share + square / (2 * trials)) / (1 + square / trials)
    half = Z * math.sqrt(share * (1 - share) / trials + square / (4 * trials * trials)) / (1 + square / trials)
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


async def find_rates(
    unit: UnitOfWork,
    days: int,
    by: RateGroup | None = None,
    phone_number_id: int | None = None,
    until: datetime | None = None,
) -> Sequence[DeliveryRate]:
    """Return the delivery rates of the last days, the worst lower bound first; without `by`, one for all texts.

    With `until`, of the days before it, up to the last full hour. Raises `InvalidInput` and `NotFound`.
    """
    if not 1 <= days <= MAX_DAYS:
        raise InvalidInput(reason=f"days must be from 1 to {MAX_DAYS}.", field="days")
    own = [
        NumberHour.account_id == unit.actor.account_id,
        NumberHour.hour >= (until or unit.clock.now()) - timedelta(days=days),
        NumberHour.carrier != "",
    ]
    if until is not None:
        own.append(NumberHour.hour <= until - timedelta(hours=1))
    if phone_number_id is not None:
        number = await numbers.find(unit, phone_number_id)
        if number is None:
            raise NotFound(kind="active phone number", id=phone_number_id)
        own.append(NumberHour.number == number.phone_number)
    key = _key(by)
    sums = [func.coalesce(func.sum(each), 0) for each in COUNTED]
    statement = select(key, *sums).where(*own)
    rows = await unit.rows(statement.group_by(key) if by else select(*sums).where(*own))
    found = [DeliveryRate(str(row[0]) if by else "", *(int(each) for each in row[1 if by else 0 :])) for row in rows]
    return sorted(found, key=lambda each: (each.interval.lower, each.key))[:MAX_GROUPS]


def _key(by: RateGroup | None) -> ColumnElement[str]:
    match by:
        case RateGroup.hour:
            return func.to_char(func.timezone("UTC", NumberHour.hour), "HH24", type_=Text)
        case RateGroup.segments:
            return cast(NumberHour.segments, Text)
        case RateGroup.carrier:
            return NumberHour.carrier.expression
        case RateGroup.region:
            return NumberHour.region.expression
        case _:
            return NumberHour.number.expression

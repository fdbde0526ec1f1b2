"""The spending of an account by day, week, month or kind, from the daily sums of the ledger."""

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy import Select, select

from app.domain.billing.models import EntryType, LedgerDay
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.unit_of_work import UnitOfWork

DEFAULT_DAYS, MAX_DAYS = 30, 366


class SpendGroup(enum.StrEnum):
    """The grouping of the spent credits."""

    day = enum.auto()
    week = enum.auto()
    month = enum.auto()
    kind = enum.auto()


class SpendKind(enum.StrEnum):
    """The use of credits."""

    messages = enum.auto()
    ai = enum.auto()


@dataclass(slots=True)
class SpendPoint:
    """The debits and refunds of a period, which begins at `start`, or of a kind."""

    start: datetime
    kind: SpendKind | None = None
    debited: int = 0
    refunded: int = 0

    @property
    def spent(self) -> int:
        """Return the credits that were spent: the debits less the refunds."""
        return self.debited - self.refunded

    def add(self, type: str, amount: int) -> None:
        """Add an amount of the ledger, in which a debit is negative."""
        if type == EntryType.debit:
            self.debited -= amount
        else:
            self.refunded += amount


@dataclass(frozen=True, slots=True)
class SpendHistory:
    """Credits spent from `since` to `until`, exclusive: whole days in UTC, and today until now."""

    since: datetime
    until: datetime
    points: Sequence[SpendPoint] = field(default_factory=tuple)

    @property
    def spent(self) -> int:
        """Return the credits of all points."""
        return sum(point.spent for point in self.points)


async def history(unit: UnitOfWork, days: int, group: SpendGroup) -> SpendHistory:
    """Return the credits that were spent in the last `days` days, today included; raise `InvalidInput`.

    Periods without spending are part of it, with zeros.
    """
    if not 1 <= days <= MAX_DAYS:
        raise InvalidInput(reason=f"days must be from 1 to {MAX_DAYS}.", field="days")
    today = unit.clock.now().date()
    first = today - timedelta(days=days - 1)
    sums = await unit.all(_sums(unit, first, today))
    points = _by_kind(first, sums) if group is SpendGroup.kind else _by_period(first, today, group, sums)
    return SpendHistory(_midnight(first), _midnight(today + timedelta(days=1)), tuple(points))


def _sums(unit: UnitOfWork, first: date, last: date) -> Select[LedgerDay]:
    """Return the query of the sums; those of a day that begins during the query are left out."""
    own = select(LedgerDay).where(LedgerDay.account_id == unit.actor.account_id, LedgerDay.day.between(first, last))
    return own.where(LedgerDay.type.in_((EntryType.debit, EntryType.refund)))


def _by_period(first: date, last: date, group: SpendGroup, sums: Iterable[LedgerDay]) -> Iterable[SpendPoint]:
    days = (first + timedelta(days=after) for after in range((last - first).days + 1))
    points = {start: SpendPoint(_midnight(max(start, first))) for start in (_start(day, group) for day in days)}
    for each in sums:
        points[_start(each.day, group)].add(each.type, each.amount)
    return points.values()


def _by_kind(first: date, sums: Iterable[LedgerDay]) -> Iterable[SpendPoint]:
    points = {kind: SpendPoint(_midnight(first), kind) for kind in SpendKind}
    for each in sums:
        points[SpendKind.messages].add(each.type, each.text_amount)
        points[SpendKind.ai].add(each.type, each.amount - each.text_amount)
    return points.values()


def _start(day: date, group: SpendGroup) -> date:
    """Return the first day of the period of a day; weeks begin on Monday."""
    match group:
        case SpendGroup.week:
            return day - timedelta(days=day.weekday())
        case SpendGroup.month:
            return day.replace(day=1)
        case _:
            return day


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)

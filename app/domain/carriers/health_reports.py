"""The health of connections, as their owners see it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import select, true
from sqlalchemy.sql.selectable import LateralFromClause

from app.domain.carriers.models import CarrierConnection, ConnectionAlert, ConnectionMinute, ConnectionResult
from app.domain.kernel.unit_of_work import UnitOfWork

HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)

FAILURES = (ConnectionResult.rejected, ConnectionResult.unanswered, ConnectionResult.undelivered)
GROUPS = (
    (ConnectionResult.accepted, ConnectionResult.rejected, ConnectionResult.unanswered),
    (ConnectionResult.delivered, ConnectionResult.undelivered),
    (ConnectionResult.callback, ConnectionResult.callback_refused),
)
"""The groups within which shares are counted: the answers to hand-offs, the final reports, the callbacks."""


@dataclass(frozen=True, slots=True)
class ConnectionFailure:
    """The last failure of a connection; `carrier_error` is the carrier's own code, or the reason for no answer."""

    at: datetime
    result: ConnectionResult
    code: str
    carrier_error: str


@dataclass(frozen=True, slots=True)
class ResultCount:
    """The count of a result in an hour, and its share of the answers, reports or callbacks."""

    result: ConnectionResult
    code: str
    count: int
    share: float


@dataclass(slots=True)
class ConnectionHealth:
    """The health of a connection.

    `parts_per_second` is the average of the last full minute, `peak_parts_per_second` that of the busiest minute of the
    last hour. `skew_seconds` is the time by which the clock that signed the last callback was ahead of ours.
    """

    last_success_at: datetime | None = None
    last_failure: ConnectionFailure | None = None
    last_hour: Sequence[ResultCount] = ()
    parts_per_second: float = 0.0
    peak_parts_per_second: float = 0.0
    skew_seconds: float | None = None
    alerts: list[ConnectionAlert] = field(default_factory=list)


async def read(unit: UnitOfWork, ids: Sequence[int]) -> dict[int, ConnectionHealth]:
    """Return the health of connections, by their ids; the caller must be allowed to see them."""
    now = unit.clock.now()
    found = {id: ConnectionHealth() for id in ids}
    recent = select(ConnectionMinute).where(ConnectionMinute.connection_id.in_(ids))
    minutes = await unit.all(recent.where(ConnectionMinute.minute > now - HOUR))
    for id, health in found.items():
        _summarize(health, [each for each in minutes if each.connection_id == id], now)
    await _add_last(unit, found)
    for alert in await find_alerts(unit, ids):
        found[alert.connection_id].alerts.append(alert)
    return found


async def find_alerts(unit: UnitOfWork, ids: Sequence[int]) -> Sequence[ConnectionAlert]:
    """Return the alerts of connections, the oldest first; the caller must be allowed to see them."""
    alerts = select(ConnectionAlert).where(ConnectionAlert.connection_id.in_(ids))
    return await unit.all(alerts.order_by(ConnectionAlert.since, ConnectionAlert.kind))


def _summarize(health: ConnectionHealth, minutes: Sequence[ConnectionMinute], now: datetime) -> None:
    health.last_hour = list(_count(minutes))
    parts: dict[datetime, int] = {}
    for each in minutes:
        parts[each.minute] = parts.get(each.minute, 0) + each.parts
    last_full = now.replace(second=0, microsecond=0) - MINUTE
    health.parts_per_second = parts.get(last_full, 0) / 60
    health.peak_parts_per_second = max(parts.values(), default=0) / 60
    signed = [each for each in minutes if each.skew_seconds is not None]
    health.skew_seconds = max(signed, key=lambda each: each.last_at).skew_seconds if signed else None


def _count(minutes: Iterable[ConnectionMinute]) -> Iterable[ResultCount]:
    counts: dict[tuple[str, str], int] = {}
    for each in minutes:
        counts[each.result, each.code] = counts.get((each.result, each.code), 0) + each.count
    for group in GROUPS:
        total = sum(count for (result, _), count in counts.items() if result in group)
        ordered = sorted(counts.items(), key=lambda each: -each[1])
        for (result, code), count in ordered:
            if result in group:
                yield ResultCount(ConnectionResult(result), code, count, round(count / total, 4))


async def _add_last(unit: UnitOfWork, found: dict[int, ConnectionHealth]) -> None:
    for results in ((ConnectionResult.accepted,), FAILURES):
        last = _last(results)
        statement = select(CarrierConnection.id, *last.c).join(last, true()).where(CarrierConnection.id.in_(found))
        for row in await unit.rows(statement):
            health = found[row.id]
            if row.result == ConnectionResult.accepted:
                health.last_success_at = row.last_at
            else:
                result = ConnectionResult(row.result)
                health.last_failure = ConnectionFailure(row.last_at, result, row.code, row.carrier_error)


def _last(results: Sequence[ConnectionResult]) -> LateralFromClause:
    """Return the latest of several results of a connection."""
    minute = ConnectionMinute
    of_connection = minute.connection_id == CarrierConnection.id, minute.result.in_(results)
    wanted = minute.last_at, minute.result, minute.code, minute.carrier_error
    return (
        select(*wanted).where(*of_connection).order_by(minute.minute.desc(), minute.last_at.desc()).limit(1).lateral()
    )

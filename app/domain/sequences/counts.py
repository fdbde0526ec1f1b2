"""Counts of the enrollments of drip sequences, by status, exit reason, version and step."""

from collections import Counter
from collections.abc import Sequence as List
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Row, Select, and_, func, or_, select

from app.domain.kernel import paging, records
from app.domain.kernel.turns import one_at_a_time
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.sequences.models import Enrollment, EnrollmentStatus, Step


@dataclass(slots=True)
class Counts:
    """The numbers of enrollments of a sequence; the paused ones are active, and `under_way` counts these by version."""

    by_status: Counter[str] = field(default_factory=Counter)
    by_exit_reason: Counter[str] = field(default_factory=Counter)
    under_way: Counter[int] = field(default_factory=Counter)
    paused: int = 0


class StepCounts(NamedTuple):
    """The number of enrollments whose next step is one, in any version, and of those that it was sent to."""

    waiting: int = 0
    sent: int = 0


async def find_many(unit: UnitOfWork, sequence_ids: List[int]) -> dict[int, Counts]:
    """Return the counts of sequences by their ids."""
    paused = _is_paused(unit.clock.now()).label("paused")
    by = (Enrollment.sequence_id, Enrollment.status, Enrollment.steps_version, Enrollment.exit_reason)
    own = Enrollment.account_id == unit.actor.account_id, records.among(Enrollment.sequence_id, sequence_ids)
    found: dict[int, Counts] = {id: Counts() for id in sequence_ids}
    for id, status, version, reason, is_paused, count in await _count(
        unit, select(*by, paused, func.count()).where(*own).group_by(*by, paused)
    ):
        counts = found[id]
        counts.by_status[status] += count
        if status == EnrollmentStatus.active:
            counts.under_way[version] += count
            counts.paused += count if is_paused else 0
        if status == EnrollmentStatus.exited:
            counts.by_exit_reason[reason] += count
    return found


async def find_of_steps(unit: UnitOfWork, steps: List[tuple[int, int]]) -> dict[tuple[int, int], StepCounts]:
    """Return the counts of steps by the ids of their sequences and their keys."""
    ids = sorted({sequence_id for sequence_id, _ in steps})
    by = (Enrollment.sequence_id, Enrollment.steps_version, Enrollment.position)
    active = records.among(Enrollment.sequence_id, ids), Enrollment.status == EnrollmentStatus.active
    waiting = select(*by, func.count().label("count")).where(*active).group_by(*by).subquery()
    same = (
        waiting.c.sequence_id == Step.sequence_id,
        waiting.c.steps_version == Step.version,
        waiting.c.position == Step.position,
    )
    sums = func.coalesce(func.sum(waiting.c.count), 0), func.sum(Step.sent)
    counted = select(Step.sequence_id, Step.key, *sums).outerjoin(waiting, and_(*same))
    own = Step.account_id == unit.actor.account_id, records.among(Step.sequence_id, ids)
    rows = await _count(unit, counted.where(*own).group_by(Step.sequence_id, Step.key))
    return {(id, key): StepCounts(int(waiting), int(sent)) for id, key, waiting, sent in rows}


async def _count(unit: UnitOfWork, statement: Select[*tuple[Any, ...]]) -> List[Row[*tuple[Any, ...]]]:
    """Return the rows of a statement that reads all enrollments of sequences, by one process of PostgreSQL."""
    async with one_at_a_time(unit, "counts"):
        await paging.plan_for_values(unit)
        return await unit.rows(statement)


def _is_paused(now: datetime) -> ColumnElement[bool]:
    is_over = Enrollment.paused_until <= now
    return and_(Enrollment.remaining.is_not(None), or_(Enrollment.paused_until.is_(None), ~is_over))

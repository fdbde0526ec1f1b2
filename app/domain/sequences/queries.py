"""Queries for drip sequences, steps and enrollments."""

from collections.abc import Sequence as List
from datetime import datetime

from sqlalchemy import Select, select, tuple_

from app.domain.kernel.errors import NotFound
from app.domain.kernel.paging import Order, Page, Window, fetch
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.sequences.models import Enrollment, EnrollmentStatus, Sequence, SequenceStatus, Step


async def find_page(unit: UnitOfWork, status: SequenceStatus | None, window: Window) -> Page[Sequence]:
    """Return one page of the account's sequences, newest first."""
    statement = _own(unit).where(Sequence.status == status) if status else _own(unit)

    return await fetch(unit, statement, Order((Sequence.id,)), window)


async def get(unit: UnitOfWork, id: int) -> Sequence:
    """Return a sequence; raise `NotFound`."""
    return _found(await unit.one(_own(unit).where(Sequence.id == id)), id)


async def lock(unit: UnitOfWork, id: int, *, to_change: bool) -> Sequence:
    """Return a sequence, locked exclusively to change it or shared to read it; raise `NotFound`."""
    statement = _own(unit).where(Sequence.id == id).with_for_update(read=not to_change, key_share=to_change)
    return _found(await unit.one(statement.execution_options(populate_existing=True)), id)


async def find_many(unit: UnitOfWork, ids: List[int]) -> dict[int, Sequence]:
    """Return sequences by their ids."""
    return {sequence.id: sequence for sequence in await unit.all(_own(unit).where(Sequence.id.in_(ids)))}


async def find_steps(unit: UnitOfWork, sequence_ids: List[int]) -> List[Step]:
    """Return the steps of sequences in order."""
    own = select(Step).where(Step.account_id == unit.actor.account_id, Step.sequence_id.in_(sequence_ids))
    return await unit.all(own.order_by(Step.sequence_id, Step.position))


async def find_enrollments(
    unit: UnitOfWork, sequence_id: int, status: EnrollmentStatus | None, window: Window
) -> Page[Enrollment]:
    """Return one page of a sequence's enrollments, the newest first; raise `NotFound` for an unknown sequence."""
    await get(unit, sequence_id)
    statement = _enrollments(unit).where(Enrollment.sequence_id == sequence_id)
    if status:
        statement = statement.where(Enrollment.status == status)

    return await fetch(unit, statement, Order((Enrollment.id,)), window)


async def find_enrollments_at(
    unit: UnitOfWork, keys: List[tuple[int, int, datetime]]
) -> dict[tuple[int, int, datetime], Enrollment]:
    """Return the enrollments that were the latest ones of a contact in a sequence at a time, by these three."""
    pairs = {(sequence_id, contact_id) for sequence_id, contact_id, _ in keys}
    named = tuple_(Enrollment.sequence_id, Enrollment.contact_id).in_(pairs)
    found = await unit.all(_enrollments(unit).where(named).order_by(Enrollment.id))
    latest = dict[tuple[int, int, datetime], Enrollment]()
    for key in keys:
        for each in found:
            if (each.sequence_id, each.contact_id) == key[:2] and each.created_at <= key[2]:
                latest[key] = each
    return latest


async def find_active(unit: UnitOfWork, sequence_id: int, contact_id: int) -> Enrollment | None:
    """Return the active enrollment of a contact."""
    return await unit.one(
        _enrollments(unit).where(
            Enrollment.sequence_id == sequence_id,
            Enrollment.contact_id == contact_id,
            Enrollment.status == EnrollmentStatus.active,
        )
    )


async def lock_enrollment(unit: UnitOfWork, id: int) -> Enrollment:
    """Return an enrollment, locked for a change; raise `NotFound`."""
    enrollment = await unit.one(_enrollments(unit).where(Enrollment.id == id).with_for_update())
    if enrollment is None:
        raise NotFound(kind="enrollment", id=id)
    return enrollment


def _own(unit: UnitOfWork) -> Select[Sequence]:
    return select(Sequence).where(Sequence.account_id == unit.actor.account_id)


def _enrollments(unit: UnitOfWork) -> Select[Enrollment]:
    return select(Enrollment).where(Enrollment.account_id == unit.actor.account_id)


def _found(sequence: Sequence | None, id: int) -> Sequence:
    if sequence is None:
        raise NotFound(kind="drip sequence", id=id)
    return sequence

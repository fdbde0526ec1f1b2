"""Queries for drip sequences, steps and enrollments."""

from bisect import bisect_right
from collections.abc import Sequence as List
from datetime import datetime

from sqlalchemy import Select, and_, select, text, tuple_

from app.domain.kernel import records, sql
from app.domain.kernel.errors import NotFound
from app.domain.kernel.histories import Place, latest
from app.domain.kernel.naming import named
from app.domain.kernel.paging import Order, Page, Window, fetch
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.sequences.exits import STEP_KEY
from app.domain.sequences.models import Enrollment, EnrollmentStatus, Sequence, SequenceStatus, Step

LAST_ID = 2**63 - 1
ORDER = (Step.sequence_id, Step.version, Step.position)
IS_STEP_SENT = text(f"""
SELECT EXISTS (SELECT FROM sequence_enrollments e
  JOIN sequence_steps step ON step.sequence_id = e.sequence_id AND step.version = e.steps_version
    AND step.position = e.position
  WHERE e.id = :id AND {sql.is_answered(*STEP_KEY)})
""")


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
    return {sequence.id: sequence for sequence in await unit.all(_own(unit).where(records.among(Sequence.id, ids)))}


async def find_named(unit: UnitOfWork, text: str, limit: int) -> List[Sequence]:
    """Return the first sequences whose name contains a text."""
    return await unit.all(named(_own(unit), Sequence.name, text, limit))


async def find_steps(unit: UnitOfWork, sequence_ids: List[int]) -> List[Step]:
    """Return the steps of the present versions of sequences in order."""
    present = Sequence.id == Step.sequence_id, Sequence.steps_version == Step.version
    own = Step.account_id == unit.actor.account_id, records.among(Step.sequence_id, sequence_ids)
    return await unit.all(select(Step).join(Sequence, and_(*present)).where(*own).order_by(*ORDER))


async def find_steps_of_versions(
    unit: UnitOfWork, versions: List[tuple[int, int]]
) -> dict[tuple[int, int], list[Step]]:
    """Return the steps of versions in order, by the ids of their sequences and the versions."""
    own = Step.account_id == unit.actor.account_id, tuple_(Step.sequence_id, Step.version).in_(versions)
    found: dict[tuple[int, int], list[Step]] = {version: [] for version in versions}
    for step in await unit.all(select(Step).where(*own).order_by(*ORDER)):
        found[step.sequence_id, step.version].append(step)
    return found


async def find_enrollments(
    unit: UnitOfWork, sequence_id: int, status: EnrollmentStatus | None, window: Window
) -> Page[Enrollment]:
    """Return one page of a sequence's enrollments, the newest first; raise `NotFound` for an unknown sequence."""
    await get(unit, sequence_id)
    statement = _enrollments(unit).where(Enrollment.sequence_id == sequence_id)
    if status:
        statement = statement.where(Enrollment.status == status)

    return await fetch(unit, statement, Order((Enrollment.id,)), window)


async def list_starts_of_contact(
    unit: UnitOfWork, contact_id: int, before: Place | None, limit: int
) -> List[tuple[Enrollment, str]]:
    """Return the latest enrollments of a contact before a place, each with the name of its sequence."""
    return await unit.rows(latest(_of_contact(unit, contact_id), Enrollment.created_at, Enrollment.id, before, limit))


async def list_ends_of_contact(
    unit: UnitOfWork, contact_id: int, before: Place | None, limit: int
) -> List[tuple[Enrollment, str]]:
    """Return the enrollments of a contact that ended last before a place, each with the name of its sequence."""
    ended = _of_contact(unit, contact_id).where(Enrollment.ended_at.is_not(None))
    return await unit.rows(latest(ended, Enrollment.ended_at, Enrollment.id, before, limit))


async def find_enrollments_at(
    unit: UnitOfWork, keys: List[tuple[int, int, datetime]]
) -> dict[tuple[int, int, datetime], Enrollment]:
    """Return the enrollments that were the latest ones of a contact in a sequence at a time, by these three."""
    pairs = {(sequence_id, contact_id) for sequence_id, contact_id, _ in keys}
    named = tuple_(Enrollment.sequence_id, Enrollment.contact_id).in_(pairs)
    columns = Enrollment.sequence_id, Enrollment.contact_id, Enrollment.created_at, Enrollment.id
    ids: dict[tuple[int, int], list[tuple[datetime, int]]] = {pair: [] for pair in pairs}
    for sequence_id, contact_id, created_at, id in await unit.rows(
        _enrollments(unit).where(named).with_only_columns(*columns).order_by(Enrollment.created_at, Enrollment.id)
    ):
        ids[sequence_id, contact_id].append((created_at, id))
    places = {key: bisect_right(ids[key[:2]], (key[2], LAST_ID)) for key in keys}
    latest = {key: ids[key[:2]][place - 1][1] for key, place in places.items() if place}
    found = await unit.all(_enrollments(unit).where(records.among(Enrollment.id, list(latest.values()))))
    by_id = {each.id: each for each in found}
    return {key: by_id[id] for key, id in latest.items() if id in by_id}


async def find_latest_enrollments(unit: UnitOfWork, sequence_id: int, contact_ids: List[int]) -> dict[int, Enrollment]:
    """Return the active or else the latest enrollments of contacts in a sequence by the ids of the contacts."""
    own = _enrollments(unit).where(Enrollment.sequence_id == sequence_id, Enrollment.contact_id.in_(contact_ids))
    has_ended = Enrollment.status != EnrollmentStatus.active
    ordered = own.order_by(has_ended.desc(), Enrollment.id)
    return {enrollment.contact_id: enrollment for enrollment in await unit.all(ordered)}


async def lock_enrollment(unit: UnitOfWork, id: int) -> Enrollment:
    """Return an enrollment, locked for a change; raise `NotFound`."""
    enrollment = await unit.one(_enrollments(unit).where(Enrollment.id == id).with_for_update())
    if enrollment is None:
        raise NotFound(kind="enrollment", id=id)
    return enrollment


async def is_step_sent(unit: UnitOfWork, enrollment_id: int) -> bool:
    """Return whether the step of an enrollment was sent, which has not advanced from it yet."""
    return bool((await unit.execute(IS_STEP_SENT, {"id": enrollment_id})).scalar_one())


def _own(unit: UnitOfWork) -> Select[Sequence]:
    return select(Sequence).where(Sequence.account_id == unit.actor.account_id)


def _enrollments(unit: UnitOfWork) -> Select[Enrollment]:
    return select(Enrollment).where(Enrollment.account_id == unit.actor.account_id)


def _found(sequence: Sequence | None, id: int) -> Sequence:
    if sequence is None:
        raise NotFound(kind="drip sequence", id=id)
    return sequence


def _of_contact(unit: UnitOfWork, contact_id: int) -> Select[Enrollment, str]:
    own = Enrollment.account_id == unit.actor.account_id, Enrollment.contact_id == contact_id
    return select(Enrollment, Sequence.name).join(Sequence, Sequence.id == Enrollment.sequence_id).where(*own)

"""Create and change drip sequences."""

from collections.abc import Mapping
from collections.abc import Sequence as List
from typing import Any

from sqlalchemy import func, insert, select

from app.domain.kernel import versions
from app.domain.kernel.errors import Conflict
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.sequences import definition, following, queries
from app.domain.sequences.definition import NewStep, SequenceFields
from app.domain.sequences.models import Sequence, SequenceStatus, Step


async def create(unit: UnitOfWork, name: str, steps: List[NewStep], fields: SequenceFields | None = None) -> Sequence:
    """Create an active sequence; raise `InvalidInput` or `MessageTooLong`."""
    values = definition.read({**(fields or {}), "name": name})
    rows = await definition.read_steps(unit, steps)
    sequence = Sequence(account_id=unit.actor.account_id, steps_version=1, created_by=unit.actor.label, **values)
    await unit.save(sequence)
    await _add_steps(unit, sequence, rows)
    return sequence


async def change(
    unit: UnitOfWork, id: int, fields: SequenceFields, *, migrate: bool = False, expected_version: int | None = None
) -> Sequence:
    """Change a sequence; other steps are a new version, and contacts under way finish theirs unless they `migrate`.

    Its version grows with each change. Raises `NotFound`, `InvalidInput`, `MessageTooLong`, and `Conflict` for an
    archived sequence and for a version that is no longer expected.
    """
    values = definition.read(fields)
    sequence = await queries.lock(unit, id, to_change=True)
    versions.require("drip sequence", sequence.version, expected_version)
    if sequence.status == SequenceStatus.archived:
        raise Conflict(reason=f"The drip sequence {sequence.name} is archived and cannot be changed.")
    changed = any(getattr(sequence, name) != value for name, value in values.items())
    for name, value in values.items():
        setattr(sequence, name, value)
    if await _replace_steps(unit, sequence, fields.get("steps")) or changed:
        sequence.version += 1
        await unit.save(sequence)
    if migrate:
        await following.begin(unit, sequence, sequence.steps_version)
    return sequence


async def update_status(unit: UnitOfWork, id: int, status: SequenceStatus) -> Sequence:
    """Pause a sequence, resume it, or archive it, which ends its enrollments.

    A pause changes no enrollment: those that become due meanwhile are set aside then, and are due again after it.
    """
    sequence = await queries.lock(unit, id, to_change=True)
    if sequence.status == status:
        return sequence
    sequence.status, sequence.version = status, sequence.version + 1
    await unit.save(sequence)
    if status is SequenceStatus.archived:
        await following.begin(unit, sequence, None)
    unit.notify("sequences")
    return sequence


async def _replace_steps(unit: UnitOfWork, sequence: Sequence, steps: List[NewStep] | None) -> bool:
    """Write the steps as a new version unless they are those of the present one; return whether they differ."""
    if steps is None:
        return False
    present = await queries.find_steps(unit, [sequence.id])
    last_key = await unit.one(select(func.max(Step.key)).where(Step.sequence_id == sequence.id)) or 0
    rows = await definition.read_steps(unit, steps, present, last_key)
    if rows == [definition.columns_of(step) for step in present]:
        return False
    sequence.steps_version += 1
    await _add_steps(unit, sequence, rows)
    return True


async def _add_steps(unit: UnitOfWork, sequence: Sequence, rows: List[Mapping[str, Any]]) -> None:
    own = {"account_id": sequence.account_id, "sequence_id": sequence.id, "version": sequence.steps_version}
    await unit.execute(insert(Step), [{**own, **row} for row in rows])

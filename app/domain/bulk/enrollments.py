"""Enrollment of many contacts in a drip sequence."""

from collections.abc import Sequence

from app.domain.bulk import selection
from app.domain.bulk.selection import Selection
from app.domain.jobs import service as jobs
from app.domain.jobs.models import AccountJob, JobKind
from app.domain.jobs.service import Progress
from app.domain.kernel.errors import DomainError
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.sequences import enrollments
from app.domain.sequences import queries as sequences
from app.domain.sequences.enrollments import MAX_AT_ONCE


async def enroll(unit: UnitOfWork, which: Selection, sequence_id: int) -> AccountJob:
    """Create a job that enrolls contacts as `sequences.enroll` does; raise `NotFound`, and `Conflict` if archived."""
    enrollments.require_open(await sequences.get(unit, sequence_id))
    total = None if which.ids is None else len(set(which.ids))
    arguments = {**which.as_arguments(), "sequence_id": sequence_id}
    return await jobs.create(unit, JobKind.enroll_contacts, arguments, total)


async def advance(unit: UnitOfWork, job: AccountJob) -> Progress:
    """Enroll the next contacts."""
    which, sequence_id = selection.read(job.arguments), job.arguments["sequence_id"]
    if which.ids is not None:
        start = int(job.position or 0)
        ids = sorted(set(which.ids))[start:]
        progress = await _enroll(unit, ids[:MAX_AT_ONCE], sequence_id)
        progress.position, progress.is_last = str(start + MAX_AT_ONCE), len(ids) <= MAX_AT_ONCE
        return progress
    chunk = await selection.find_next(unit, job, MAX_AT_ONCE)
    progress = await _enroll(unit, chunk.ids, sequence_id)
    progress.position, progress.is_last, progress.total = chunk.position, chunk.is_last, chunk.total
    return progress


async def _enroll(unit: UnitOfWork, ids: Sequence[int], sequence_id: int) -> Progress:
    """Enroll contacts; one that a gate or the sequence refuses is a problem, and holds up no other."""
    outcomes = await enrollments.enroll_many(unit, sequence_id, ids) if ids else {}
    progress = Progress("", done=len(ids))
    for id, outcome in outcomes.items():
        if isinstance(outcome, DomainError):
            progress.failed += 1
            progress.problems.append(f"Contact {id}: {outcome}")
        else:
            progress.changed += not outcome.already
    return progress

"""Deletion of many contacts, each with its messages and conversations."""

from collections.abc import Sequence

from app.domain.bulk import selection
from app.domain.bulk.selection import Selection
from app.domain.erasure import service as erasure
from app.domain.jobs import service as jobs
from app.domain.jobs.models import AccountJob, JobKind
from app.domain.jobs.service import Progress
from app.domain.kernel.errors import NotFound
from app.domain.kernel.unit_of_work import UnitOfWork

CHUNK = 20
"""The number of contacts that one transaction deletes."""


async def delete(unit: UnitOfWork, which: Selection) -> AccountJob:
    """Create a job that deletes contacts as `erasure.erase` does: suppressions, consent and ledger remain."""
    total = None if which.ids is None else len(set(which.ids))
    return await jobs.create(unit, JobKind.delete_contacts, which.as_arguments(), total)


async def advance(unit: UnitOfWork, job: AccountJob) -> Progress:
    """Delete the next contacts."""
    which = selection.read(job.arguments)
    if which.ids is not None:
        ids = sorted(set(which.ids))[int(job.position or 0) :]
        progress = await _erase(unit, ids[:CHUNK])
        progress.position, progress.is_last = str(int(job.position or 0) + CHUNK), len(ids) <= CHUNK
        return progress
    chunk = await selection.find_next(unit, job, CHUNK)
    progress = await _erase(unit, chunk.ids)
    progress.position, progress.is_last, progress.total = chunk.position, chunk.is_last, chunk.total
    return progress


async def _erase(unit: UnitOfWork, ids: Sequence[int]) -> Progress:
    progress = Progress("", done=len(ids))
    if ids:
        await erasure.lock(unit, ids)
    for id in ids:
        try:
            await erasure.erase(unit, id)
            progress.changed += 1
        except NotFound as missing:
            progress.failed += 1
            progress.problems.append(str(missing))
    return progress

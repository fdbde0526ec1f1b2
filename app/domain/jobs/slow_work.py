"""Wait for slow work of a job, such as the reading of a large file, with no transaction open and the job unlocked."""

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any, TypeVar

from app.db.engine import Pool
from app.domain.jobs import queries
from app.domain.jobs.models import UNFINISHED, AccountJob
from app.domain.kernel.unit_of_work import UnitOfWork

T = TypeVar("T")

LOCKED_SECONDS = 1.0
"""The time of usual work, for which a job stays locked: a cancellation waits for it."""

LEASE, RENEW_SECONDS = timedelta(seconds=10), 3.0
"""The time for which other workers leave a job alone, and the time after which that begins anew."""

LEASE_JOB = "UPDATE account_jobs SET retry_at = $2 WHERE id = $1 AND status IN ('waiting','running') RETURNING id"


class JobChanged(Exception):
    """A job was canceled, or another worker advanced it, during slow work, whose result is of no use any more."""


async def wait_for(unit: UnitOfWork, pool: Pool, job: AccountJob, work: Coroutine[Any, Any, T]) -> T:
    """Return the result of work for a locked job, for which the unit has written nothing yet.

    After a second the transaction ends, so that the job can be canceled. The job is locked again for the result; raises
    `JobChanged`.
    """
    task = asyncio.create_task(work)
    try:
        if not await _is_done(task, LOCKED_SECONDS):
            await _wait_unlocked(unit, pool, job, task)
        return task.result()
    finally:
        task.cancel()


async def _wait_unlocked(unit: UnitOfWork, pool: Pool, job: AccountJob, task: asyncio.Task[T]) -> None:
    id, position = job.id, job.position
    await unit.pause()
    is_done = False
    while not is_done:
        if not await pool.fetch(LEASE_JOB, id, unit.clock.now() + LEASE):
            raise JobChanged
        is_done = await _is_done(task, RENEW_SECONDS)
    now = await queries.get(unit, id, lock=True)
    if now.status not in UNFINISHED or now.position != position:
        raise JobChanged


async def _is_done(task: asyncio.Task[T], seconds: float) -> bool:
    done, _ = await asyncio.wait({task}, timeout=seconds)
    return bool(done)

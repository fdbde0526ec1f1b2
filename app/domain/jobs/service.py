"""Create, advance, cancel and end jobs."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select

from app.domain.accounts import queries as accounts
from app.domain.events import outbox
from app.domain.jobs import queries
from app.domain.jobs.events import JobProgress
from app.domain.jobs.models import UNFINISHED, AccountJob, JobKind, JobStatus
from app.domain.kernel.errors import Conflict
from app.domain.kernel.unit_of_work import UnitOfWork

TOPIC = "account_jobs"
MAX_UNFINISHED = 20
MAX_PROBLEMS = 20
"""The number of problems that a job keeps; a file of its own lists all of them."""

SHOWN_EVERY = timedelta(seconds=1)


@dataclass(slots=True)
class Progress:
    """The result of a chunk: the place after it, and the items in it by outcome.

    `is_last` ends the job. `total` is set when it becomes known.
    """

    position: str
    done: int = 0
    changed: int = 0
    failed: int = 0
    is_last: bool = False
    total: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


async def create(unit: UnitOfWork, kind: JobKind, arguments: dict[str, Any], total: int | None = None) -> AccountJob:
    """Create a job; raise `Conflict` while the account has `MAX_UNFINISHED` unfinished ones."""
    own = AccountJob.account_id == unit.actor.account_id, AccountJob.status.in_(UNFINISHED)
    await accounts.lock_own(unit)
    if (await unit.one(select(func.count()).select_from(AccountJob).where(*own)) or 0) >= MAX_UNFINISHED:
        raise Conflict(reason=f"{MAX_UNFINISHED} jobs of the account have not ended. Wait for one, or cancel one.")
    job = AccountJob(
        account_id=unit.actor.account_id, kind=kind, arguments=arguments, total=total, created_by=unit.actor.label
    )
    await unit.save(job)
    await _show(unit, job, unit.clock.now())
    unit.notify(TOPIC)
    return job


async def cancel(unit: UnitOfWork, id: int) -> AccountJob:
    """Cancel a job: the chunk that runs ends first, and its changes stay. A final job is left as it is."""
    job = await queries.get(unit, id, lock=True)
    if job.status in UNFINISHED:
        await finish(unit, job, JobStatus.canceled)
    return job


async def record(unit: UnitOfWork, job: AccountJob, progress: Progress) -> None:
    """Add the result of a chunk to a locked job, in the transaction of the chunk."""
    now = unit.clock.now()
    job.status, job.position, job.attempts, job.retry_at = JobStatus.running, progress.position, 0, None
    job.started_at, job.advanced_at = job.started_at or now, now
    job.total = progress.total if progress.total is not None else job.total
    job.done, job.changed = job.done + progress.done, job.changed + progress.changed
    job.failed += progress.failed
    job.counts = dict(Counter(job.counts) + Counter(progress.counts))
    job.problems = [*job.problems, *progress.problems][:MAX_PROBLEMS]
    if progress.is_last:
        await finish(unit, job, JobStatus.done)
    elif job.shown_at is None or now - job.shown_at >= SHOWN_EVERY:
        await _show(unit, job, now)
    else:
        await unit.save(job)


async def finish(unit: UnitOfWork, job: AccountJob, status: JobStatus, problem: str = "") -> None:
    """End a locked job."""
    now = unit.clock.now()
    job.status, job.finished_at = status, now
    if problem:
        job.problems = [problem, *job.problems][:MAX_PROBLEMS]
    if status is JobStatus.done and job.total is None:
        job.total = job.done
    await _show(unit, job, now)


async def _show(unit: UnitOfWork, job: AccountJob, now: datetime) -> None:
    job.shown_at = now
    await unit.save(job)
    outbox.record(unit, JobProgress.of(job))

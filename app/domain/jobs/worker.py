"""Advances jobs chunk by chunk; accounts take turns."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import select

from app.db.engine import UNREACHABLE, Database, find_fault
from app.domain.accounts import credentials
from app.domain.accounts import sql as accounts
from app.domain.accounts.scopes import Scope
from app.domain.jobs import service
from app.domain.jobs.models import UNFINISHED, AccountJob, JobKind, JobStatus
from app.domain.jobs.service import Progress
from app.domain.jobs.slow_work import JobChanged
from app.domain.kernel.clock import Clock
from app.domain.kernel.errors import DomainError
from app.domain.kernel.unit_of_work import Actor, Notify, UnitOfWork, open_unit

Step = Callable[[UnitOfWork, AccountJob], Awaitable[Progress]]
"""Does the chunk of a job that follows its position, in the transaction of the unit."""

MAX_ATTEMPTS = 5
RETRY = timedelta(seconds=5)
"""The wait after the first failure of a chunk; the next ones take twice as long each."""

CANDIDATES = 10

SCOPES = {JobKind.enroll_contacts: Scope.campaigns_send}
"""The scopes that the creators of jobs must keep; that of the other kinds is `contacts:write`."""

CREATOR_ENDED = "The key, application or user that created the job has ended."

IS_UNFINISHED = f"""
j.status IN ('waiting','running') AND (j.retry_at IS NULL OR j.retry_at <= $1)
AND {accounts.status_of("j.account_id")} = 'active'
AND NOT (j.kind = 'import_contacts' AND EXISTS (
  SELECT FROM account_jobs o WHERE o.account_id = j.account_id AND o.id < j.id AND o.kind = j.kind
    AND o.status IN ('waiting','running')))
"""
"""The condition on jobs that are due at `$1`. Imports of an account are done one after the other.

A process that took turns between more files than it keeps open would read each anew from its beginning.
"""

FIND = f"""
SELECT id, account_id FROM (
  SELECT j.id, j.account_id, j.advanced_at, max(j.advanced_at) OVER (PARTITION BY j.account_id) AS turn
  FROM account_jobs j WHERE {IS_UNFINISHED}
) due ORDER BY turn NULLS FIRST, advanced_at NULLS FIRST, id LIMIT {CANDIDATES}
"""
"""Finds the jobs that are due at `$1`: first those of the account that has waited longest."""

IS_DUE = f"SELECT EXISTS (SELECT FROM account_jobs j WHERE {IS_UNFINISHED})"


@dataclass(frozen=True, slots=True)
class JobWorker:
    """Advances jobs; safe to run concurrently, and to kill at any instant.

    A chunk, its place and its counts are one transaction, which holds the lock on the job; `slow_work` that precedes it
    has none. A job is canceled before its next chunk when the credential that created it has ended.
    """

    database: Database
    clock: Clock
    notify: Notify
    steps: Mapping[JobKind, Step]

    async def run(self) -> bool:
        """Advance the job that is due first and is not locked; return True when more may be due."""
        for row in await self.database.pool.fetch(FIND, self.clock.now()):
            if await self._advance(row["id"], row["account_id"]):
                return True
        return False

    async def due(self) -> bool:
        """Return whether a job is due."""
        return await self.database.pool.ask(IS_DUE, self.clock.now())

    async def _advance(self, id: int, account_id: int) -> bool:
        """Do one chunk; return False when another worker has the job, or it has ended."""
        try:
            async with self._unit(account_id) as unit:
                job = await _lock(unit, id)
                if job is None:
                    return False
                unit.actor = Actor(account_id, frozenset(), job.created_by)
                creator = credentials.credential_of(account_id, job.created_by)
                scope = SCOPES.get(JobKind(job.kind), Scope.contacts_write)
                if not await credentials.may_still(unit, creator, scope, job.created_at):
                    await service.finish(unit, job, JobStatus.canceled, CREATOR_ENDED)
                    return True
                await service.record(unit, job, await self.steps[JobKind(job.kind)](unit, job))
        except JobChanged:
            return True
        except Exception as error:
            await self._fail(id, account_id, error)
            if not isinstance(error, DomainError):
                raise
        return True

    async def _fail(self, id: int, account_id: int, error: Exception) -> None:
        """End a job that cannot go on; try another chunk again later, and end the job after `MAX_ATTEMPTS` defects."""
        async with self._unit(account_id) as unit:
            job = await _lock(unit, id)
            if job is None:
                return
            is_defect = not isinstance(find_fault(error), UNREACHABLE)
            job.attempts += is_defect
            if isinstance(error, DomainError) or job.attempts >= MAX_ATTEMPTS:
                problem = str(error) if isinstance(error, DomainError) else str(DomainError())
                await service.finish(unit, job, JobStatus.failed, problem)
            else:
                job.retry_at = unit.clock.now() + RETRY * 2**job.attempts
                await unit.save(job)

    def _unit(self, account_id: int) -> AbstractAsyncContextManager[UnitOfWork]:
        return open_unit(self.database.sessions, Actor(account_id, frozenset()), self.clock, self.notify)


async def _lock(unit: UnitOfWork, id: int) -> AccountJob | None:
    own = AccountJob.account_id == unit.actor.account_id, AccountJob.id == id, AccountJob.status.in_(UNFINISHED)
    return await unit.one(select(AccountJob).where(*own).with_for_update(skip_locked=True))

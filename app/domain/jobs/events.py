"""The event of the progress of a job."""

from dataclasses import dataclass

from app.domain.accounts.scopes import Scope
from app.domain.jobs.models import AccountJob
from app.domain.kernel.events import Event, UpdateKind, event


@event
@dataclass(frozen=True, slots=True, kw_only=True)
class JobProgress(Event):
    """A job has begun, went on, or ended. A live update at most once a second, not offered to webhooks."""

    name = "job_progress"
    subscribable = False
    scope = Scope.contacts_read
    live_kind = UpdateKind.job_progress
    example = {"job_id": 12, "kind": "tag_contacts", "status": "running", "total": 4812, "done": 1500, "failed": 0}

    job_id: int
    kind: str
    status: str
    total: int | None
    done: int
    failed: int

    @classmethod
    def of(cls, job: AccountJob) -> "JobProgress":
        """Return the event with the present state of a job."""
        return cls(job_id=job.id, kind=job.kind, status=job.status, total=job.total, done=job.done, failed=job.failed)

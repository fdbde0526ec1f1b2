"""Links that download the file of a job for a short time."""

from dataclasses import dataclass
from datetime import datetime

from app.domain.accounts import audit, credentials
from app.domain.accounts import queries as accounts
from app.domain.accounts.audit import AuditAction
from app.domain.accounts.file_links import FileLinks
from app.domain.accounts.models import AccountStatus
from app.domain.accounts.scopes import Scope
from app.domain.jobs import queries
from app.domain.jobs.models import UNFINISHED, AccountJob, JobKind, JobStatus
from app.domain.kernel.errors import Conflict, DomainError
from app.domain.kernel.sealing import Seal
from app.domain.kernel.unit_of_work import Actor, UnitOfWork

WRITING = (JobKind.import_contacts, JobKind.export_contacts)
TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/x-ndjson", "vcard": "text/vcard; charset=utf-8"}
SUFFIXES = {"csv": "csv", "json": "ndjson", "vcard": "vcf"}


class JobLinkEnded(DomainError):
    """The link to the file of a job is older than ten minutes, or its creator may no longer read contacts."""

    code = "job_link_ended"
    status = 410
    message = (
        "This link to a file is older than ten minutes, or its creator may no longer read contacts. Create a new one."
    )


@dataclass(frozen=True, slots=True)
class JobLink:
    """A link that downloads the file of a job until `expires_at`; the file has `row_count` rows without its header."""

    token: str
    expires_at: datetime
    row_count: int


@dataclass(frozen=True, slots=True)
class JobFile:
    """The file of a job: its media type and its name."""

    job_id: int
    media_type: str
    name: str


LINKS = FileLinks("job", JobLinkEnded)


async def make_link(unit: UnitOfWork, seal: Seal, id: int) -> JobLink:
    """Create a link to the file of a job; raise `NotFound`, and `Conflict` for a job without one."""
    job = await queries.get(unit, id)
    check_has_file(job)
    await audit.record(unit, AuditAction.job_link_made, str(job.kind), job_id=job.id)
    return JobLink(*LINKS.close(seal, unit.actor, id, unit.clock.now()), job.done)


def open_link(seal: Seal, token: str, now: datetime, request_id: str | None = None) -> tuple[Actor, int]:
    """Return the actor who created a link, without scopes, and the id of the job.

    Raises `NotFound` and `JobLinkEnded`.
    """
    actor, job_id = LINKS.open(seal, token, now, request_id)
    return actor, int(job_id)


async def find_file(unit: UnitOfWork, job_id: int) -> JobFile:
    """Return the file of a job, if the actor who created the link may still read it; raise `JobLinkEnded`."""
    account = await accounts.get_own(unit)
    if account.status != AccountStatus.active or not await credentials.may_still(unit, unit.actor, Scope.contacts_read):
        raise JobLinkEnded()
    job = await queries.get(unit, job_id)
    check_has_file(job)
    format = job.arguments["format"] if job.kind == JobKind.export_contacts else "csv"
    return JobFile(job_id, TYPES[format], f"{job.kind.replace('_', '-')}-{job_id}.{SUFFIXES[format]}")


def has_file(job: AccountJob) -> bool:
    """Return whether a job is an export that is done, or an import that has ended."""
    return not _find_lack(job)


def check_has_file(job: AccountJob) -> None:
    """Raise `Conflict` unless a job has a file that is complete."""
    if reason := _find_lack(job):
        raise Conflict(reason=reason)


def _find_lack(job: AccountJob) -> str:
    """Return why a job has no complete file, or ""; the report of an import has the rows that were imported."""
    if job.kind not in WRITING:
        return "A job of this kind writes no file."
    if job.status in UNFINISHED:
        return "The job has not ended. Its file is complete at its end."
    if job.kind == JobKind.export_contacts and job.status != JobStatus.done:
        return "The export ended before all contacts were written. Begin another one."
    return ""

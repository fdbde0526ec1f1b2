"""Long jobs, as the contract shows them."""

from datetime import datetime
from typing import Annotated

import strawberry

from app.domain.bulk.import_rules import Outcome
from app.domain.jobs import downloads, models, parts, queries, service
from app.domain.jobs.models import JobKind, JobStatus
from app.domain.kernel.paging import Page
from app.graphql.actors import Actor, actor_of
from app.graphql.core.context import Info, row_of
from app.graphql.core.directives import guarded
from app.graphql.core.enums import describe
from app.graphql.core.paging import After, Before, Connection, First, Last, Offset, window
from app.graphql.core.scalars import BigInt

describe(
    JobKind,
    "The work of a job.",
    {
        "tag_contacts": "Adds and removes tags of contacts.",
        "rename_tag": "Gives contacts another tag in the place of one.",
        "stage_contacts": "Moves contacts to a stage.",
        "assign_contacts": "Assigns contacts to a user.",
        "enroll_contacts": "Enrolls contacts in a drip sequence; its problems say why some were not.",
        "delete_contacts": "Deletes contacts.",
        "import_contacts": "Imports contacts from an uploaded file; its file is the report of every row.",
        "export_contacts": "Writes contacts to a file.",
        "delete_custom_field": "Removes the values of a deleted custom field from contacts.",
    },
)
describe(
    JobStatus,
    "The state of a job.",
    {
        "waiting": "It has not begun.",
        "running": "It has begun.",
        "done": "It has processed every item.",
        "failed": "It cannot go on; its first problem says why.",
        "canceled": "It was canceled; its changes until then stay.",
    },
)

describe(
    Outcome,
    "The outcome of an item of a job, such as a row of an import.",
    {
        "created": "A contact was added.",
        "updated": "A contact was changed.",
        "unchanged": "The contact has these values, or stays as it is.",
        "duplicate_in_file": "Another row of the file has the same phone.",
        "invalid": "The row cannot be read; the report says why.",
        "suppressed": "A contact was added or changed whose phone has opted out, and stays so.",
    },
    name="JobOutcome",
)

PATH = "/jobs"
JobId = Annotated[BigInt, strawberry.argument(description="The job's id.")]


@strawberry.type(description="The number of items with one outcome.")
class JobCount:
    """A count of items."""

    outcome: Outcome = strawberry.field(description="The outcome.")
    count: BigInt = strawberry.field(description="The number of items.")


@strawberry.type(description="The file of a job. create_job_link gives a link to a long one.")
class JobFile:
    """The beginning of a file."""

    text: str = strawberry.field(description=f"Its first lines, at most {parts.HEAD_BYTES:,} bytes.")
    is_whole: bool = strawberry.field(description="True when these are all its lines.")


@strawberry.type(description="Work on many records, which goes on in the background, through restarts and crashes.")
class Job:
    """A job."""

    id: BigInt = strawberry.field(description="The job's id.")
    kind: JobKind = strawberry.field(description="The work.")
    status: JobStatus = strawberry.field(description="The state of the job.")
    total: BigInt | None = strawberry.field(description="Number of items; null until they were counted.")
    done: BigInt = strawberry.field(description="Number of processed items.")
    changed: BigInt = strawberry.field(description="Number of processed items that changed something.")
    failed: BigInt = strawberry.field(description="Number of items that could not be processed.")
    problems: list[str] = strawberry.field(description=f"The first problems, at most {service.MAX_PROBLEMS}.")
    created_by: strawberry.Private[str]
    created_at: datetime = strawberry.field(description="The time at which it was created.")
    started_at: datetime | None = strawberry.field(description="The time at which it began.")
    finished_at: datetime | None = strawberry.field(description="The time at which it ended.")

    @strawberry.field(description="The number of items by outcome.")
    def counts(self) -> list[JobCount]:
        """Return the counts, by outcome."""
        counts = row_of(self, models.AccountJob).counts
        return [JobCount(outcome=Outcome(outcome), count=count) for outcome, count in sorted(counts.items())]

    @strawberry.field(description="The file of an export that is done, or the report of an import that has ended.")
    async def file(self, info: Info) -> JobFile | None:
        """Return the beginning of the file."""
        job = row_of(self, models.AccountJob)
        if not downloads.has_file(job):
            return None
        content, is_whole = await parts.read_head(info.context.unit, job)
        return JobFile(text=content.decode(errors="replace"), is_whole=is_whole)

    @strawberry.field(description="The user, key or application that created it.")
    def creator(self) -> Actor:
        """Return the actor."""
        return actor_of(self.created_by)


@strawberry.type(description="A link that downloads the file of a job. Every holder of the link can download it.")
class JobLink:
    """A link to the file of a job."""

    url: str = strawberry.field(description="The address to get the file from, which needs no key.")
    expires_at: datetime = strawberry.field(description="The time until which a download can begin.")
    row_count: BigInt = strawberry.field(description="Number of rows of the file without its header.")


@strawberry.type
class JobQuery:
    """Reading jobs."""

    @strawberry.field(
        graphql_type=Job | None,
        description="One job; null beside the error not_found. A job is kept for 90 days after its end.",
        directives=guarded("contacts:read", "not_found"),
    )
    async def job(self, info: Info, id: JobId) -> models.AccountJob:
        """Return one job."""
        return await queries.get(info.context.unit, id)

    @strawberry.field(
        graphql_type=Connection[Job],
        description="The account's jobs, the newest first.",
        directives=guarded("contacts:read"),
    )
    async def jobs(
        self,
        info: Info,
        unfinished_only: Annotated[bool, strawberry.argument(description="Only jobs that have not ended.")] = False,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
        offset: Offset = 0,
    ) -> Page[models.AccountJob]:
        """Return one page of jobs."""
        part = window(info, "jobs", first, after, last, before, offset)
        return await queries.find_page(info.context.unit, unfinished_only=unfinished_only, window=part)


@strawberry.type
class JobMutation:
    """Changing jobs."""

    @strawberry.mutation(
        graphql_type=Job,
        description="Cancel a job, and return it. Its changes so far stay; a job that has ended does not change.",
        directives=guarded("contacts:write", "not_found"),
    )
    async def cancel_job(self, info: Info, id: JobId) -> models.AccountJob:
        """Cancel a job."""
        return await service.cancel(info.context.unit, id)

    @strawberry.mutation(
        description=(
            "Create and return a link that downloads the file of a job that has ended: the report of an import, or an "
            "export that is done. It works for ten minutes. Files are kept for 7 days."
        ),
        directives=guarded("contacts:read", "conflict", "not_found"),
    )
    async def create_job_link(self, info: Info, id: JobId) -> JobLink:
        """Make a link to the file."""
        services = info.context.services
        link = await downloads.make_link(info.context.unit, services.exports, id)
        url = f"{services.settings.public_url}{PATH}/{link.token}"
        return JobLink(url=url, expires_at=link.expires_at, row_count=BigInt(link.row_count))

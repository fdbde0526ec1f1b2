"""Tags, stages and assignees of many contacts."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from app.domain.accounts import users
from app.domain.bulk import selection
from app.domain.bulk.selection import Selection
from app.domain.contacts import loading
from app.domain.contacts.events import Snapshot, changes
from app.domain.contacts.models import Contact, PipelineStage
from app.domain.contacts.service import MAX_TAGS, clean_tags
from app.domain.events import outbox
from app.domain.jobs import service as jobs
from app.domain.jobs.models import AccountJob, JobKind
from app.domain.jobs.service import Progress
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.events import Event
from app.domain.kernel.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True)
class Change:
    """The change of each contact. `assign` tells whether to set the assignee, which may be none."""

    add: list[str] = field(default_factory=list)
    remove: list[str] = field(default_factory=list)
    stage: PipelineStage | None = None
    assign: bool = False
    assignee_id: int | None = None


async def tag(unit: UnitOfWork, which: Selection, add: Sequence[str], remove: Sequence[str]) -> AccountJob:
    """Add and remove tags of contacts; raise `InvalidInput` for none, and for a tag that is in both."""
    change = Change(add=clean_tags(list(add)), remove=clean_tags(list(remove)))
    if not (change.add or change.remove) or set(change.add) & set(change.remove):
        raise InvalidInput(reason="Give tags to add or to remove, and none in both.", field="add")
    return await _begin(unit, JobKind.tag_contacts, which, change)


async def move(unit: UnitOfWork, which: Selection, stage: PipelineStage) -> AccountJob:
    """Move contacts to a stage."""
    return await _begin(unit, JobKind.stage_contacts, which, Change(stage=stage))


async def assign(unit: UnitOfWork, which: Selection, assignee_id: int | None) -> AccountJob:
    """Assign contacts to a user, or to none; raise `NotFound`."""
    if assignee_id is not None:
        await users.get(unit, assignee_id)
    return await _begin(unit, JobKind.assign_contacts, which, Change(assign=True, assignee_id=assignee_id))


async def advance(unit: UnitOfWork, job: AccountJob) -> Progress:
    """Change the next contacts of a filter or a segment."""
    chunk = await selection.find_next(unit, job)
    progress = await _apply(unit, chunk.ids, Change(**job.arguments["change"]))
    progress.total, progress.is_last, progress.position = chunk.total, chunk.is_last, chunk.position
    return progress


async def _begin(unit: UnitOfWork, kind: JobKind, which: Selection, change: Change) -> AccountJob:
    """Create a job, and do it at once for contacts that are named by their ids."""
    arguments: dict[str, Any] = {**which.as_arguments(), "change": asdict(change)}
    if which.ids is None:
        return await jobs.create(unit, kind, arguments)
    job = await jobs.create(unit, kind, arguments, len(set(which.ids)))
    progress = await _apply(unit, sorted(set(which.ids)), change)
    progress.is_last = True
    await jobs.record(unit, job, progress)
    return job


async def _apply(unit: UnitOfWork, ids: Sequence[int], change: Change) -> Progress:
    contacts = await loading.lock_many(unit, Contact.id.in_(ids)) if ids else []
    progress, changed = Progress("", done=len(ids)), list[Contact]()
    events, now = list[tuple[Event, int]](), unit.clock.now()
    for contact in contacts:
        before, assignee_id = Snapshot.of(contact), contact.assignee_id
        if problem := _change(contact, change):
            progress.failed += 1
            progress.problems.append(problem)
        elif Snapshot.of(contact) != before or contact.assignee_id != assignee_id:
            changed.append(contact)
            events += [(event, contact.id) for event in changes(contact, before, now)]
    await loading.save_many(unit, changed)
    await outbox.record_many(unit, events)
    progress.changed = len(changed)
    missing = sorted(set(ids) - {contact.id for contact in contacts})
    progress.failed += len(missing)
    progress.problems += [f"No contact with id {id}." for id in missing]
    return progress


def _change(contact: Contact, change: Change) -> str:
    """Change a contact; return the problem if it cannot be changed."""
    tags = [tag for tag in contact.tags if tag not in change.remove]
    tags += [tag for tag in change.add if tag not in tags]
    if len(tags) > max(MAX_TAGS, len(contact.tags)):
        return f"The contact {contact.id} would have more than {MAX_TAGS} tags."
    contact.tags = tags
    contact.pipeline_stage = change.stage or contact.pipeline_stage
    contact.assignee_id = change.assignee_id if change.assign else contact.assignee_id
    return ""

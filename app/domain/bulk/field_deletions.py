"""Deletion of a custom field: hidden at once, its values removed by a job."""

from app.domain.bulk import field_uses
from app.domain.contacts import custom_fields
from app.domain.jobs import service as jobs
from app.domain.jobs.models import AccountJob, JobKind
from app.domain.jobs.service import Progress
from app.domain.kernel.errors import Conflict
from app.domain.kernel.unit_of_work import UnitOfWork

CHUNK = 1000
NAMED = 10
"""The number of uses that an error names."""


async def delete(unit: UnitOfWork, id: int) -> AccountJob:
    """Hide a custom field, and create the job that removes its values; raise `NotFound`, and `Conflict` with its uses.

    A repetition, after the job was canceled, creates another one.
    """
    field = await custom_fields.get(unit, id, deleted=True)
    if uses := await field_uses.find(unit, field):
        named = ", ".join(uses[:NAMED]) + (" and others" if len(uses) > NAMED else "")
        raise Conflict(reason=f"The custom field {field.key} is used by {named}. Remove it there first.")
    job = await jobs.create(unit, JobKind.delete_custom_field, {"key": field.key})
    await custom_fields.hide(unit, id)
    return job


async def advance(unit: UnitOfWork, job: AccountJob) -> Progress:
    """Remove the values of the next contacts; the job ends with a pass from the first contact that finds none.

    A change of a contact that began before the field was hidden may add a value behind the place of the job. Once
    another job has removed the field, its key may be that of a new one, whose values stay.
    """
    key = job.arguments["key"]
    if not await custom_fields.lock_hidden(unit, key):
        return Progress(job.position, is_last=True)
    phones = await custom_fields.clear(unit, key, job.position, CHUNK)
    if phones:
        place = phones[-1] if len(phones) == CHUNK else ""
        return Progress(place, done=len(phones), changed=len(phones))
    if job.position:
        return Progress("")
    await custom_fields.remove(unit, key)
    return Progress("", is_last=True)

"""Renames a tag of all contacts that have it; into a tag that exists, it merges the two."""

from app.domain.contacts import loading, queries
from app.domain.contacts.events import Snapshot, changes
from app.domain.contacts.models import Contact
from app.domain.contacts.queries import ContactFilter
from app.domain.contacts.service import clean_tags
from app.domain.events import outbox
from app.domain.jobs import service as jobs
from app.domain.jobs.models import AccountJob, JobKind
from app.domain.jobs.service import Progress
from app.domain.kernel.errors import InvalidInput, NotFound
from app.domain.kernel.paging import MAX_SIZE
from app.domain.kernel.unit_of_work import UnitOfWork


async def rename(unit: UnitOfWork, tag: str, name: str) -> AccountJob:
    """Create the job that renames a tag; raise `InvalidInput` for the same or no name, and `NotFound`."""
    old, new = (next(iter(clean_tags([each])), "") for each in (tag, name))
    if new in ("", old):
        raise InvalidInput(reason="name must be another tag.", field="name")
    total = await queries.count_all(unit, ContactFilter(tag=old)) if old else 0
    if not total:
        raise NotFound(kind="tag", id=tag, by="name")
    return await jobs.create(unit, JobKind.rename_tag, {"tag": old, "name": new}, total)


async def advance(unit: UnitOfWork, job: AccountJob) -> Progress:
    """Rename the tag of the next contacts, in the order of their ids: one statement writes them all.

    A contact that gets the tag meanwhile is among them, if its id follows the place of the job.
    """
    tag, name = job.arguments["tag"], job.arguments["name"]
    ids = await queries.find_tagged(unit, tag, int(job.position or 0), MAX_SIZE)
    contacts = await loading.lock_many(unit, Contact.id.in_(ids)) if ids else []
    renamed = [contact for contact in contacts if tag in contact.tags]
    before = [Snapshot.of(contact) for contact in renamed]
    for contact in renamed:
        contact.tags = list(dict.fromkeys(name if each == tag else each for each in contact.tags))
    await loading.save_many(unit, renamed)
    now = unit.clock.now()
    events = [
        (event, contact.id)
        for contact, old in zip(renamed, before, strict=True)
        for event in changes(contact, old, now)
    ]
    await outbox.record_many(unit, events)
    place = str(ids[-1]) if ids else job.position
    return Progress(place, done=len(ids), changed=len(renamed), is_last=len(ids) < MAX_SIZE)

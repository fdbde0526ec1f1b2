"""The contacts that a bulk operation concerns: some by their ids, or all of a filter or a segment."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import text

from app.domain.contacts import queries
from app.domain.contacts import sql as contacts
from app.domain.contacts.models import Contact, ContactStatus, PipelineStage
from app.domain.contacts.queries import ContactFilter, ContactSort
from app.domain.jobs.models import AccountJob
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.paging import MAX_SIZE, Window
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.segments import filters, members
from app.domain.segments import queries as segments

MAX_IDS = 500
ADDED = ("tags", "updated_since")
"""The fields of filters that the version before does not know."""


@dataclass(frozen=True, slots=True)
class FrozenSegment:
    """The stored filter of a segment at the time of a request, for contacts with ids up to one."""

    filter: Mapping[str, Any]
    until: int


@dataclass(frozen=True, slots=True)
class Selection:
    """Contacts by their ids, by a filter, or by a segment."""

    ids: list[int] | None = None
    filter: ContactFilter | None = None
    segment: FrozenSegment | None = None

    def __post_init__(self) -> None:
        """Raise `InvalidInput` unless one of the three is given."""
        if sum(each is not None for each in (self.ids, self.filter, self.segment)) != 1:
            raise InvalidInput(field="contacts", one_of=("contacts.ids", "contacts.filter", "contacts.segment_id"))
        if self.ids is not None and not 0 < len(self.ids) <= MAX_IDS:
            raise InvalidInput(
                reason=f"ids must be 1 to {MAX_IDS}. Choose more contacts by a segment.",
                field="contacts.ids",
            )

    def as_arguments(self) -> dict[str, Any]:
        """Return the selection as the arguments of a job, which a worker of the version before can read."""
        given = {name: value for name, value in asdict(self).items() if value is not None}
        if self.filter:
            filter = given["filter"]
            given["filter"] = {name: filter[name] for name in filter if filter[name] or name not in ADDED}
        return given


@dataclass(frozen=True, slots=True)
class Chunk:
    """The next contacts of a selection, and the place after them; `total` where the first chunk counted all."""

    ids: list[int]
    position: str
    is_last: bool
    total: int | None = None


def read(arguments: Mapping[str, Any]) -> Selection:
    """Return the selection in the arguments of a job."""
    if arguments.get("ids") is not None:
        return Selection(arguments["ids"])
    if arguments.get("segment") is not None:
        return Selection(segment=FrozenSegment(**arguments["segment"]))
    filter = dict(arguments["filter"])
    filter["stage"] = PipelineStage(filter["stage"]) if filter["stage"] else None
    filter["status"] = ContactStatus(filter["status"]) if filter["status"] else None
    return Selection(filter=ContactFilter(**filter))


async def freeze(unit: UnitOfWork, segment_id: int) -> FrozenSegment:
    """Return a segment as it is now; raise `NotFound`."""
    segment = await segments.get(unit, segment_id)
    return FrozenSegment(segment.filter, (await unit.execute(text(contacts.LAST_ID))).scalar_one())


async def find_next(unit: UnitOfWork, job: AccountJob, limit: int = MAX_SIZE) -> Chunk:
    """Return the contacts of a filter or segment that follow the position of a job, at most `limit` of them."""
    which = read(job.arguments)
    if which.segment:
        return await _next_of_segment(unit, job, which.segment, limit)
    assert which.filter is not None
    total = None if job.position else await queries.count_all(unit, which.filter)
    page = await queries.find_page(unit, which.filter, ContactSort.date_added, Window(limit, job.position or None))
    ids = [contact.id for contact in page.nodes]
    return Chunk(ids, page.end_cursor or job.position, not await page.has_next_page(), total)


async def _next_of_segment(unit: UnitOfWork, job: AccountJob, segment: FrozenSegment, limit: int) -> Chunk:
    filter, at = filters.load(segment.filter), job.created_at
    total = None if job.position else await members.count(unit, filter, at)
    found = await members.read(unit, filter, at, job.position, segment.until, limit)
    return Chunk(found.ids, found.after or job.position, found.after is None, total)


async def find_contacts(unit: UnitOfWork, chunk: Chunk) -> list[Contact]:
    """Return the contacts of a chunk in its order."""
    found = await queries.find_many(unit, chunk.ids)
    return [found[id] for id in chunk.ids if id in found]

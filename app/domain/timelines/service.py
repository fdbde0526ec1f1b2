"""Read the history of a contact, from all areas, the newest first; each source only for an actor with its scope.

Each page takes one query for each source, however many entries it has.
"""

import enum
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson

from app.domain.accounts.scopes import Scope
from app.domain.automations import queries as automations
from app.domain.consent import queries as consents
from app.domain.contacts import queries as contacts
from app.domain.contacts.events import (
    ContactDndChanged,
    ContactMerged,
    ContactTagAdded,
    ContactTagRemoved,
    NewContact,
    PipelineStageChanged,
)
from app.domain.contacts.models import Contact
from app.domain.conversations import queries as conversations
from app.domain.conversations.models import EntryKind
from app.domain.events import history
from app.domain.events.models import EventRow
from app.domain.integrations import queries as integrations
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.histories import Place
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import queries as messages
from app.domain.sequences import queries as sequences

MAX_SIZE = 100
LAST_ID = 2**63 - 1


class TimelineKind(enum.StrEnum):
    """The kind of an entry."""

    added = enum.auto()
    stage_changed = enum.auto()
    tag_added = enum.auto()
    tag_removed = enum.auto()
    dnd_set = enum.auto()
    dnd_lifted = enum.auto()
    merged = enum.auto()
    message = enum.auto()
    note = enum.auto()
    conversation = enum.auto()
    consent = enum.auto()
    enrolled = enum.auto()
    enrollment_ended = enum.auto()
    booking = enum.auto()
    automation = enum.auto()


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened. `record_id` is the id of the record of that kind, `row` that record where it is shown.

    `detail` is the changed value, such as a stage, a tag or the name of a sequence; never the text of a message or
    note.
    """

    kind: TimelineKind
    at: datetime
    id: int
    record_id: int
    detail: str = ""
    actor: str = ""
    row: Any = None


Read = Callable[[UnitOfWork, Contact, Place | None, int], Awaitable[Sequence[Entry]]]


@dataclass(frozen=True, slots=True)
class Timeline:
    """Entries, the newest first, and the place after which older ones follow; None for the last ones."""

    entries: Sequence[Entry]
    end: str | None


async def read(unit: UnitOfWork, contact_id: int, size: int, after: str | None = None) -> Timeline:
    """Return the entries after a place of an earlier answer; raise `NotFound` and `InvalidInput`."""
    if not 1 <= size <= MAX_SIZE:
        raise InvalidInput(reason=f"first must be from 1 to {MAX_SIZE}.", field="first")
    contact = await contacts.get(unit, contact_id)
    found = list[tuple[datetime, int, int, Entry]]()
    for rank, (scope, source) in enumerate(SOURCES):
        if scope in unit.actor.scopes:
            entries = await source(unit, contact, _bound(after, rank), size + 1)
            found += [(entry.at, -rank, entry.id, entry) for entry in entries]
    found.sort(key=lambda each: each[:3], reverse=True)
    at, rank, id, _ = found[min(size, len(found)) - 1] if found else (None, 0, 0, None)
    end = orjson.dumps([at.isoformat(), -rank, id]).decode() if at and len(found) > size else None
    return Timeline([entry for *_, entry in found[:size]], end)


def _bound(after: str | None, rank: int) -> Place | None:
    """Return the place in the history of one source: entries of one instant are in the order of the sources."""
    if after is None:
        return None
    at, last, id = orjson.loads(after)
    return Place(datetime.fromisoformat(at), id if rank == last else 0 if rank < last else LAST_ID)


EVENTS: dict[str, Callable[[dict[str, Any]], tuple[TimelineKind, str]]] = {
    NewContact.name: lambda payload: (TimelineKind.added, payload["source"]),
    PipelineStageChanged.name: lambda payload: (TimelineKind.stage_changed, payload["new_stage"]),
    ContactTagAdded.name: lambda payload: (TimelineKind.tag_added, payload["tag"]),
    ContactTagRemoved.name: lambda payload: (TimelineKind.tag_removed, payload["tag"]),
    ContactDndChanged.name: lambda payload: (
        TimelineKind.dnd_set if payload["dnd_sms"] else TimelineKind.dnd_lifted,
        "",
    ),
    ContactMerged.name: lambda payload: (TimelineKind.merged, payload["merged_phone"]),
}
"""The kind and the detail of the events that no other source has."""


async def _events(unit: UnitOfWork, contact: Contact, before: Place | None, limit: int) -> Sequence[Entry]:
    rows = await history.list_of_contact(unit, contact.id, list(EVENTS), before, limit)
    return [_event(row) for row in rows]


def _event(row: EventRow) -> Entry:
    kind, detail = EVENTS[row.name](row.payload)
    return Entry(kind, row.created_at, row.id, row.id, detail or "")


async def _consents(unit: UnitOfWork, contact: Contact, before: Place | None, limit: int) -> Sequence[Entry]:
    rows = await consents.list_latest(unit, contact.phone, before, limit)
    return [Entry(TimelineKind.consent, each.recorded_at, each.id, each.id, each.kind, each.actor) for each in rows]


async def _messages(unit: UnitOfWork, contact: Contact, before: Place | None, limit: int) -> Sequence[Entry]:
    rows = await messages.list_of_contact(unit, contact.id, before, limit)
    return [
        Entry(TimelineKind.message, each.created_at, each.id, each.id, each.direction, each.actor, each)
        for each in rows
    ]


async def _thread(unit: UnitOfWork, contact: Contact, before: Place | None, limit: int) -> Sequence[Entry]:
    rows = await conversations.list_entries_of_contact(unit, contact.id, before, limit)
    return [
        Entry(TimelineKind.note, each.created_at, each.id, each.id, "", each.actor, each)
        if each.kind == EntryKind.note
        else Entry(TimelineKind.conversation, each.created_at, each.id, each.conversation_id, each.kind, each.actor)
        for each in rows
    ]


async def _starts(unit: UnitOfWork, contact: Contact, before: Place | None, limit: int) -> Sequence[Entry]:
    rows = await sequences.list_starts_of_contact(unit, contact.id, before, limit)
    return [
        Entry(TimelineKind.enrolled, each.created_at, each.id, each.sequence_id, name, each.enrolled_by)
        for each, name in rows
    ]


async def _ends(unit: UnitOfWork, contact: Contact, before: Place | None, limit: int) -> Sequence[Entry]:
    rows = await sequences.list_ends_of_contact(unit, contact.id, before, limit)
    return [
        Entry(TimelineKind.enrollment_ended, each.ended_at, each.id, each.sequence_id, name)
        for each, name in rows
        if each.ended_at
    ]


async def _bookings(unit: UnitOfWork, contact: Contact, before: Place | None, limit: int) -> Sequence[Entry]:
    rows = await integrations.list_bookings_of_contact(unit, contact.id, before, limit)
    return [Entry(TimelineKind.booking, each.created_at, each.id, each.id, each.title) for each in rows]


async def _runs(unit: UnitOfWork, contact: Contact, before: Place | None, limit: int) -> Sequence[Entry]:
    rows = await automations.list_runs_of_contact(unit, contact.id, before, limit)
    return [Entry(TimelineKind.automation, each.created_at, each.id, each.id, name) for each, name in rows]


SOURCES: tuple[tuple[Scope, Read], ...] = (
    (Scope.contacts_read, _events),
    (Scope.contacts_read, _consents),
    (Scope.messages_read, _messages),
    (Scope.conversations_read, _thread),
    (Scope.campaigns_read, _starts),
    (Scope.campaigns_read, _ends),
    (Scope.contacts_read, _bookings),
    (Scope.account_read, _runs),
)
"""The sources of a timeline, each with the scope that its records need."""

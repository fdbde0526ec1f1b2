"""Timelines of contacts, as the contract shows them."""

from datetime import datetime
from typing import Annotated, Any

import strawberry

from app.domain.timelines import service
from app.domain.timelines.service import TimelineKind
from app.graphql.actors import Actor, actor_of
from app.graphql.contacts import ContactId
from app.graphql.core.context import Info
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.paging import DEFAULT_SIZE, After, open_cursor, seal_cursor
from app.graphql.core.scalars import BigInt
from app.graphql.messages import Message
from app.graphql.threads import Note, note_of

describe(
    TimelineKind,
    "The kind of an entry of the timeline of a contact.",
    {
        "added": "The contact was added; detail is its source.",
        "stage_changed": "It moved to the stage in detail.",
        "tag_added": "The tag in detail was added.",
        "tag_removed": "The tag in detail was removed.",
        "dnd_set": "Do-not-disturb was set.",
        "dnd_lifted": "Do-not-disturb was lifted.",
        "merged": "Another contact was merged into it; detail is the phone of that one.",
        "message": "A text; detail is its direction.",
        "note": "An internal note.",
        "conversation": "A change of the conversation; detail is a ThreadEntryKind.",
        "consent": "A record of consent; detail is its kind.",
        "enrolled": "It was enrolled in the sequence whose name is in detail.",
        "enrollment_ended": "It completed or left the sequence whose name is in detail.",
        "booking": "A booking arrived; detail is its title.",
        "automation": "The automation whose name is in detail ran for it.",
    },
    name="ContactTimelineKind",
)

LIST = "contact_timeline"


@strawberry.type(name="ContactTimelineEntry", description="One thing that happened with a contact.")
class ContactTimelineEntry:
    """An entry; each is made from one of the domain."""

    kind: TimelineKind = strawberry.field(description="The kind of the entry.")
    at: datetime = strawberry.field(description="Its time.")
    record_id: BigInt = strawberry.field(
        description="The id of the message, note, consent record, booking or run of an automation; of the sequence of "
        "an enrollment; of a conversation that changed; else of the event."
    )
    detail: str = strawberry.field(description="The detail that the kind names; never the text of a message or a note.")
    entry: strawberry.Private[service.Entry]

    @strawberry.field(description="The user, key, application or part of the service that caused it; null if unknown.")
    def actor(self) -> Actor | None:
        """Return the actor."""
        return actor_of(self.entry.actor) if self.entry.actor else None

    @strawberry.field(
        graphql_type=Message | None,
        description="The text of an entry of the kind message.",
        directives=guarded("messages:read"),
    )
    def message(self) -> Any:
        """Return the message."""
        return self.entry.row if self.entry.kind is TimelineKind.message else None

    @strawberry.field(
        graphql_type=Note | None,
        description="The note of an entry of the kind note.",
        directives=guarded("conversations:read"),
    )
    def note(self) -> Any:
        """Return the note."""
        return note_of(self.entry.row) if self.entry.kind is TimelineKind.note else None


@strawberry.type(name="ContactTimeline", description="A part of the timeline of a contact.")
class ContactTimeline:
    """A part of a timeline."""

    entries: list[ContactTimelineEntry] = strawberry.field(description="The entries, the newest first.")
    end_cursor: str | None = strawberry.field(
        description="The cursor to pass as after for older entries; null when there are none."
    )


@strawberry.type
class ContactTimelineQuery:
    """Reading timelines of contacts."""

    @strawberry.field(
        description=(
            "Everything that happened with a contact, the newest first: texts (needs messages:read), notes and changes "
            "of the conversation (conversations:read), sequences (campaigns:read), runs of automations (account:read), "
            "consent, bookings and changes of the contact. Entries that the caller may not read are left out. Changes "
            "of the contact are kept as long as events are."
        ),
        directives=guarded("contacts:read", "not_found"),
    )
    async def contact_timeline(
        self,
        info: Info,
        id: ContactId,
        first: Annotated[
            int,
            strawberry.argument(
                description=f"Number of entries, 1 to {service.MAX_SIZE}.",
                directives=[Constraint(minimum=1, maximum=service.MAX_SIZE)],
            ),
        ] = DEFAULT_SIZE,
        after: After = None,
    ) -> ContactTimeline | None:
        """Return a part of a timeline."""
        list_name = f"{LIST} {id}"
        found = await service.read(info.context.unit, id, first, open_cursor(info, "after", list_name, after))
        end = found.end and seal_cursor(info, list_name, found.end)
        return ContactTimeline(entries=[_entry(each) for each in found.entries], end_cursor=end)


def _entry(entry: service.Entry) -> ContactTimelineEntry:
    return ContactTimelineEntry(
        kind=entry.kind, at=entry.at, record_id=BigInt(entry.record_id), detail=entry.detail, entry=entry
    )

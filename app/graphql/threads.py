"""Threads, as the contract shows them: timelines of texts, notes and events, and the notes of colleagues."""

from datetime import datetime
from typing import Annotated, Any, cast

import strawberry

from app.domain.accounts import queries as accounts
from app.domain.conversations import models, notes
from app.domain.conversations.models import AiState, EntryKind
from app.domain.kernel import idempotency
from app.domain.messages import timeline
from app.domain.messages.models import Message as MessageRow
from app.graphql.accounts import User
from app.graphql.actors import Actor, actor_of
from app.graphql.conversations import ConversationId
from app.graphql.core.context import Info
from app.graphql.core.directives import Constraint, guarded
from app.graphql.core.enums import describe
from app.graphql.core.idempotency import IdempotencyKey, once
from app.graphql.core.loading import Load
from app.graphql.core.paging import DEFAULT_SIZE
from app.graphql.core.scalars import BigInt
from app.graphql.messages import Message

describe(
    EntryKind,
    "Kinds of entries that a thread has between its texts.",
    {
        "note": "An internal note.",
        "closed": "The conversation was closed.",
        "reopened": "It was opened again, by a user, by a text, or because its snooze ended.",
        "snoozed": "It was snoozed until snoozed_until.",
        "assigned": "It was assigned to a user.",
        "unassigned": "Its assignment was removed.",
        "ai_state": "The state of AI agents in it changed.",
    },
)

NoteId = Annotated[BigInt, strawberry.argument(description="The note's id.")]
Body = Annotated[
    str,
    strawberry.argument(
        description=f"The text of the note, 1 to {notes.MAX_LENGTH:,} characters. It is never sent.",
        directives=[Constraint(min_length=1, max_length=notes.MAX_LENGTH)],
    ),
]
Before = Annotated[BigInt | None, strawberry.argument(description="Only items before the one with this id.")]
After = Annotated[BigInt | None, strawberry.argument(description="Only items after the one with this id.")]
Around = Annotated[
    BigInt | None,
    strawberry.argument(description="The item with this id, half of the others before it, and half after it."),
]


@strawberry.interface(description="An item of a thread. The ids of all items are in the order of the thread.")
class TimelineItem:
    """An item of a thread; each kind has its own type."""

    id: BigInt = strawberry.field(description="The id of the item.")
    at: datetime = strawberry.field(description="The time of the item.")


@strawberry.type(description="A text in a thread.")
class TimelineMessage(TimelineItem):
    """A message."""

    row: strawberry.Private[MessageRow]

    @strawberry.field(graphql_type=Message, description="The text.", directives=guarded("messages:read"))
    def message(self) -> Any:
        """Return the message."""
        return self.row


@strawberry.type(description="An internal note in a thread, which is never sent.")
class Note(TimelineItem):
    """A note."""

    conversation_id: BigInt = strawberry.field(description="The id of the conversation.")
    body: str = strawberry.field(description="The text.")
    edited_at: datetime | None = strawberry.field(description="The time of its latest change; null if there was none.")
    author: Actor = strawberry.field(description="The author, who alone can edit and delete it.")


@strawberry.type(description="A change of a conversation, in its thread.")
class ConversationEvent(TimelineItem):
    """An event."""

    kind: EntryKind = strawberry.field(description="Kind of the entry.")
    actor: Actor = strawberry.field(description="The actor that caused it.")
    snoozed_until: datetime | None = strawberry.field(description="The time until which it was snoozed.")
    assignee_id: BigInt | None = strawberry.field(description="The id of the user to whom it was assigned.")
    ai_state: AiState | None = strawberry.field(description="State of AI agents in the conversation from then on.")

    @strawberry.field(
        graphql_type=User | None,
        description="The user to whom it was assigned, removed or not.",
        directives=guarded("conversations:read"),
    )
    def assignee(self, info: Info) -> Load[Any]:
        """Return the assignee."""
        return info.context.load(accounts.find_users, self.assignee_id)


ITEMS = (TimelineMessage, Note, ConversationEvent)
"""The types of the items of a thread."""


@strawberry.type(description="A part of a thread.")
class Timeline:
    """A part of a thread."""

    items: list[TimelineItem] = strawberry.field(description="The items, the oldest first.")
    has_older: bool = strawberry.field(description="True when there are items before these.")
    has_newer: bool = strawberry.field(description="True when there are items after these.")


@strawberry.type
class ThreadQuery:
    """Reading threads."""

    @strawberry.field(
        description="A part of the thread of a conversation: its texts, notes and events in one order, the latest ones "
        "unless before, after or around is given.",
        directives=guarded("conversations:read", "not_found"),
    )
    async def timeline(
        self,
        info: Info,
        conversation_id: ConversationId,
        first: Annotated[
            int,
            strawberry.argument(
                description=f"Number of items, 1 to {timeline.MAX_SIZE}.",
                directives=[Constraint(minimum=1, maximum=timeline.MAX_SIZE)],
            ),
        ] = DEFAULT_SIZE,
        before: Before = None,
        after: After = None,
        around: Around = None,
    ) -> Timeline | None:
        """Return a part of a thread."""
        place = timeline.Place(first, before, after, around)
        found = await timeline.read(info.context.unit, conversation_id, place)
        return Timeline(
            items=[_item(each) for each in found.items], has_older=found.has_older, has_newer=found.has_newer
        )


@strawberry.type
class ThreadMutation:
    """Changing notes."""

    @strawberry.mutation(
        description="Add an internal note to a conversation, and return it.",
        directives=guarded("conversations:write", "idempotency_key_reused", "not_found"),
    )
    async def add_note(
        self, info: Info, conversation_id: ConversationId, body: Body, idempotency_key: IdempotencyKey = None
    ) -> Note:
        """Add a note."""
        unit = info.context.unit
        digest = idempotency.fingerprint("add_note", conversation_id=conversation_id, body=body)
        id = await once(info, idempotency_key, digest, lambda: notes.add(unit, conversation_id, body))
        return note_of(await notes.get(unit, id))

    @strawberry.mutation(
        description="Change the text of a note, and return it. Only its author can.",
        directives=guarded("conversations:write", "not_found", "not_note_author"),
    )
    async def update_note(self, info: Info, id: NoteId, body: Body) -> Note:
        """Change a note."""
        return note_of(await notes.update(info.context.unit, id, body))

    @strawberry.mutation(
        description="Delete a note, and return it as it was. Only its author can.",
        directives=guarded("conversations:write", "not_found", "not_note_author"),
    )
    async def delete_note(self, info: Info, id: NoteId) -> Note:
        """Delete a note."""
        return note_of(await notes.delete(info.context.unit, id))


def note_of(row: models.ConversationEntry) -> Note:
    """Return a note as the contract shows it."""
    return Note(
        id=BigInt(row.id),
        at=row.created_at,
        conversation_id=BigInt(row.conversation_id),
        body=row.body,
        edited_at=row.edited_at,
        author=actor_of(row.actor),
    )


def _item(item: timeline.Item) -> TimelineItem:
    if isinstance(item, MessageRow):
        return TimelineMessage(id=BigInt(item.id), at=item.created_at, row=item)
    if item.kind == EntryKind.note:
        return note_of(item)
    return ConversationEvent(
        id=BigInt(item.id),
        at=item.created_at,
        kind=EntryKind(item.kind),
        actor=actor_of(item.actor),
        snoozed_until=item.snoozed_until,
        assignee_id=cast("BigInt | None", item.assignee_id),
        ai_state=None if item.ai_state is None else AiState(item.ai_state),
    )

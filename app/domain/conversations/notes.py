"""Internal notes in conversations: never sent, and changed by their authors only."""

from sqlalchemy import select

from app.domain.conversations import queries
from app.domain.conversations.events import NoteAdded, NoteChanged
from app.domain.conversations.models import Conversation, ConversationEntry, EntryKind
from app.domain.events import outbox
from app.domain.kernel.blank_texts import is_blank
from app.domain.kernel.errors import DomainError, InvalidInput, NotFound
from app.domain.kernel.unit_of_work import UnitOfWork

MAX_LENGTH = 4000


class NotNoteAuthor(DomainError):
    """Only the author of a note can edit or delete it: the same user, or the same key."""

    code = "not_note_author"
    status = 403
    message = "Only the author of a note can change it. Add a note of your own."


async def add(unit: UnitOfWork, conversation_id: int, body: str) -> ConversationEntry:
    """Add a note to a conversation, which lists show from now on; raise `InvalidInput` or `NotFound`."""
    conversation = await queries.get(unit, conversation_id, lock=True)
    conversation.last_message_at = conversation.shown_at
    note = ConversationEntry(
        account_id=unit.actor.account_id,
        conversation_id=conversation.id,
        kind=EntryKind.note,
        actor=unit.actor.label,
        body=_checked(body),
        created_at=unit.clock.now(),
    )
    await unit.save(note, conversation)
    outbox.record(unit, _event(NoteAdded, unit, conversation, note), conversation.contact_id)
    return note


async def get(unit: UnitOfWork, id: int) -> ConversationEntry:
    """Return a note; raise `NotFound`."""
    found = await queries.find_notes(unit, [id])
    if id not in found:
        raise NotFound(kind="note", id=id)
    return found[id]


async def update(unit: UnitOfWork, id: int, body: str) -> ConversationEntry:
    """Replace the text of an own note; raise `InvalidInput`, `NotFound` or `NotNoteAuthor`."""
    note = await _get_own(unit, id)
    if note.body != _checked(body):
        note.body, note.edited_at = _checked(body), unit.clock.now()
        await unit.save(note)
        await _record_change(unit, note)
    return note


async def delete(unit: UnitOfWork, id: int) -> ConversationEntry:
    """Delete an own note, and return it; raise `NotFound` or `NotNoteAuthor`."""
    note = await _get_own(unit, id)
    await _record_change(unit, note)
    await unit.delete(note)
    return note


async def _get_own(unit: UnitOfWork, id: int) -> ConversationEntry:
    of_account = ConversationEntry.account_id == unit.actor.account_id, ConversationEntry.kind == EntryKind.note
    note = await unit.one(select(ConversationEntry).where(ConversationEntry.id == id, *of_account).with_for_update())
    if note is None:
        raise NotFound(kind="note", id=id)
    if note.actor != unit.actor.label:
        raise NotNoteAuthor
    return note


async def _record_change(unit: UnitOfWork, note: ConversationEntry) -> None:
    conversation = await queries.get(unit, note.conversation_id)
    outbox.record(unit, _event(NoteChanged, unit, conversation, note), conversation.contact_id)


def _event(kind: type[NoteAdded], unit: UnitOfWork, conversation: Conversation, note: ConversationEntry) -> NoteAdded:
    return kind(
        note_id=note.id,
        conversation_id=conversation.id,
        contact_id=conversation.contact_id,
        actor=unit.actor.label,
    )


def _checked(body: str) -> str:
    if is_blank(body):
        raise InvalidInput(reason="body must not be empty.", field="body")
    if len(body) > MAX_LENGTH:
        raise InvalidInput(reason=f"body must have at most {MAX_LENGTH} characters.", field="body")
    return body

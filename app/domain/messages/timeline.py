"""The timeline of a conversation: its messages, notes and events in one order, that of their ids."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.conversations import queries as conversations
from app.domain.conversations.models import ConversationEntry
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import queries
from app.domain.messages.models import Message

MAX_SIZE = 200
Item = Message | ConversationEntry


@dataclass(frozen=True, slots=True)
class Place:
    """The part of a timeline to read, at most `size` items: the latest, or those before, after or around an id."""

    size: int
    before: int | None = None
    after: int | None = None
    around: int | None = None

    def __post_init__(self) -> None:
        """Raise `InvalidInput` for a size outside the limits, or more than one id."""
        if not 1 <= self.size <= MAX_SIZE:
            raise InvalidInput(reason=f"first must be from 1 to {MAX_SIZE}.", field="first")
        given = [name for name in ("before", "after", "around") if getattr(self, name) is not None]
        if len(given) > 1:
            raise InvalidInput(reason=f"Give only one of {' and '.join(given)}.", field=given[1])


@dataclass(frozen=True, slots=True)
class Timeline:
    """A part of a timeline, the oldest item first, and whether there are items before and after it."""

    items: Sequence[Item]
    has_older: bool
    has_newer: bool


async def read(unit: UnitOfWork, conversation_id: int, place: Place) -> Timeline:
    """Return a part of the timeline of a conversation; raise `NotFound`."""
    await conversations.get(unit, conversation_id)
    if place.after is not None:
        newer, has_newer = await _since(unit, conversation_id, place.after + 1, place.size)
        return Timeline(newer, has_older=True, has_newer=has_newer)
    if place.around is None:
        older, has_older = await _before(unit, conversation_id, place.before, place.size)
        return Timeline(older, has_older, has_newer=place.before is not None)
    newer, has_newer = await _since(unit, conversation_id, place.around, (place.size + 1) // 2)
    rest = place.size - len(newer)
    older, has_older = await _before(unit, conversation_id, place.around, rest)
    return Timeline([*older, *newer], has_older, has_newer)


async def _before(unit: UnitOfWork, id: int, before: int | None, size: int) -> tuple[Sequence[Item], bool]:
    """Return the latest items before an id, the oldest first, and whether there are more."""
    messages = await queries.list_in_thread(unit, id, size + 1, before=before)
    entries = await conversations.list_entries(unit, id, size + 1, before=before)
    items = sorted([*messages, *entries], key=_id, reverse=True)
    return items[:size][::-1], len(items) > size


async def _since(unit: UnitOfWork, id: int, since: int, size: int) -> tuple[Sequence[Item], bool]:
    """Return the first items from an id on, the oldest first, and whether there are more."""
    messages = await queries.list_in_thread(unit, id, size + 1, since=since)
    entries = await conversations.list_entries(unit, id, size + 1, since=since)
    items = sorted([*messages, *entries], key=_id)
    return items[:size], len(items) > size


def _id(item: Item) -> int:
    return item.id

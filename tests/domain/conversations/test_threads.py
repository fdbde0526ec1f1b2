"""Notes, and the thread of texts, notes and events that they stand in."""

from dataclasses import replace
from typing import Any

import pytest

from app.domain.accounts import queries as accounts
from app.domain.carriers.carrier import InboundMessage
from app.domain.conversations import notes, service
from app.domain.conversations.models import ConversationEntry, ConversationStatus
from app.domain.conversations.notes import MAX_LENGTH, NotNoteAuthor
from app.domain.kernel.errors import InvalidInput, NotFound
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.messages import timeline
from app.domain.messages.models import Message
from app.domain.messages.timeline import Place
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import Recorded, UnitFor
from tests.factories.conversations import CONVERSATION_ENTRIES, CONVERSATIONS

PHONE = "+12025550143"


async def text_in(services: Services, account: Opened, body: str) -> int:
    """Have a contact text in; return the id of the conversation."""
    await services.inbox.receive("sandbox", InboundMessage(f"in-{body}", PHONE, account.phone_number, body))
    return await CONVERSATIONS.only(services, "id")


def shown(items: Any) -> list[str]:
    """Return each item in a word: the text of a message or note, or the kind of an event."""
    return [item.body if isinstance(item, Message) or item.kind == "note" else item.kind for item in items]


async def make_thread(services: Services, account: Opened, unit_for: UnitFor) -> int:
    """Make a thread of seven items."""
    id = await text_in(services, account, "Hello")
    async with unit_for(account) as unit:
        await notes.add(unit, id, "An old friend")
    async with unit_for(account) as unit:
        [owner] = await accounts.list_users(unit)
        await service.assign(unit, id, owner.id)
    async with unit_for(account) as unit:
        await service.update(unit, id, {"status": ConversationStatus.closed})
    await text_in(services, account, "Again")
    async with unit_for(account) as unit:
        await service.release_ai(unit, id)
    return id


ITEMS = ["Hello", "An old friend", "assigned", "closed", "Again", "reopened", "ai_state"]


async def test_a_thread_has_texts_notes_and_events_in_the_order_in_which_they_came(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    id = await make_thread(services, account, unit_for)

    async with unit_for(account) as unit:
        whole = await timeline.read(unit, id, Place(50))

        assert shown(whole.items) == ITEMS
        assert (whole.has_older, whole.has_newer) == (False, False)
        assigned, released = whole.items[2], whole.items[6]
        assert isinstance(assigned, ConversationEntry)
        assert isinstance(released, ConversationEntry)
        [owner] = await accounts.list_users(unit)
        assert (assigned.assignee_id, assigned.actor, released.ai_state) == (owner.id, "test", "active")


@pytest.mark.parametrize("size", [1, 2, 3, 7])
async def test_a_thread_is_read_in_parts_in_both_directions(
    services: Services, account: Opened, unit_for: UnitFor, size: int
) -> None:
    id = await make_thread(services, account, unit_for)

    async with unit_for(account) as unit:
        backward, forward = list[str](), list[str]()
        part = await timeline.read(unit, id, Place(size))
        backward[:0] = shown(part.items)
        first = part.items[0].id
        while part.has_older:
            part = await timeline.read(unit, id, Place(size, before=part.items[0].id))
            backward[:0] = shown(part.items)
            first = part.items[0].id
        part = await timeline.read(unit, id, Place(size, after=first - 1))
        forward += shown(part.items)
        while part.has_newer:
            part = await timeline.read(unit, id, Place(size, after=part.items[-1].id))
            forward += shown(part.items)

    assert (backward, forward) == (ITEMS, ITEMS)


async def test_a_thread_is_read_around_an_item(services: Services, account: Opened, unit_for: UnitFor) -> None:
    id = await make_thread(services, account, unit_for)

    async with unit_for(account) as unit:
        whole = (await timeline.read(unit, id, Place(50))).items
        found = [await timeline.read(unit, id, Place(3, around=item.id)) for item in whole]

    parts = [(shown(part.items), part.has_older, part.has_newer) for part in found]
    middle = [(ITEMS[n - 1 : n + 2], n > 1, n < 5) for n in range(1, 6)]
    assert parts == [(ITEMS[:2], False, True), *middle, (ITEMS[4:], True, False)]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"size": 0}, "first must be from 1 to 200"),
        ({"size": 201}, "first must be from 1 to 200"),
        ({"size": 1, "before": 1, "around": 2}, "Give only one of before and around"),
    ],
)
def test_a_part_has_a_size_and_one_place(given: dict[str, int], reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        Place(**given)


async def test_a_note_is_changed_by_its_author_only(
    services: Services, account: Opened, unit_for: UnitFor, recorded: Recorded
) -> None:
    id = await text_in(services, account, "Hello")
    async with unit_for(account) as unit:
        note = await notes.add(unit, id, "First")

    async with unit_for(account) as unit:
        _be_another(unit)
        for change in (notes.update(unit, note.id, "Mine"), notes.delete(unit, note.id)):
            with pytest.raises(NotNoteAuthor):
                await change
    async with unit_for(account) as unit:
        same = await notes.update(unit, note.id, "First")
        assert (same.body, same.edited_at) == ("First", None)
        edited = await notes.update(unit, note.id, "Second")
        assert edited.body == "Second"
        assert edited.edited_at
    async with unit_for(account) as unit:
        assert (await notes.delete(unit, note.id)).id == note.id
    async with unit_for(account) as unit:
        with pytest.raises(NotFound, match=f"^No note with id {note.id}.$"):
            await notes.update(unit, note.id, "Third")

    assert await CONVERSATION_ENTRIES.count(services) == 0
    told = [(name, payload.get("note_id")) for name, payload in await recorded() if name.startswith("note")]
    assert told == [("note_added", note.id), ("note_changed", note.id), ("note_changed", note.id)]


@pytest.mark.parametrize("body", ["", " \n", "x" * (MAX_LENGTH + 1)])
async def test_a_note_has_a_text_of_bounded_length(
    services: Services, account: Opened, unit_for: UnitFor, body: str
) -> None:
    id = await text_in(services, account, "Hello")

    with pytest.raises(InvalidInput, match=r"^body must "):
        async with unit_for(account) as unit:
            await notes.add(unit, id, body)

    assert await CONVERSATION_ENTRIES.count(services) == 0


def _be_another(unit: UnitOfWork) -> None:
    unit.actor = replace(unit.actor, label="another")

"""Opening, reading, assigning, closing and deciding on conversations."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest

from app.domain.accounts import queries as accounts
from app.domain.consent.service import Evidence
from app.domain.contacts import opt_outs
from app.domain.contacts import queries as contacts
from app.domain.contacts import service as people
from app.domain.conversations import queries, review, service
from app.domain.conversations.models import Conversation, ConversationStatus
from app.domain.conversations.queries import ConversationFilter
from app.domain.conversations.service import FirstMessage
from app.domain.kernel.errors import InvalidInput, NotFound
from app.domain.kernel.paging import Total, Window
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.numbers import queries as numbers
from app.domain.onboarding.service import Opened
from tests.domain.conftest import NOON, Recorded, SetClock, UnitFor
from tests.waiting import within

PHONE = "+12025550143"
FIRST = FirstMessage(first_message="Hello", from_number=PHONE, to_number="+15002000001")


@pytest.fixture
async def conversation(account: Opened, unit_for: UnitFor) -> Conversation:
    """Give a conversation with an unread text, committed."""
    async with unit_for(account) as unit:
        conversation = await _open(unit)
        conversation.unread_count = 2
        await unit.save(conversation)
        return conversation


async def test_the_first_message_opens_a_conversation_and_is_told(
    account: Opened, unit_for: UnitFor, recorded: Recorded
) -> None:
    async with unit_for(account) as unit:
        unit.clock = SetClock()
        contact = await people.create(unit, {"phone": PHONE, "first_name": "Ann", "email": "ann@example.com"})

        conversation = await service.find_or_open(unit, contact, FIRST)

        assert (conversation.contact_id, conversation.status, conversation.assignee_id) == (contact.id, "open", None)
        assert (conversation.unread_count, conversation.possible_opt_out) == (0, False)
        assert (conversation.last_message_at, conversation.created_at) == (NOON, NOON)
    event = {
        "conversation_id": conversation.id,
        "contact_id": contact.id,
        "first_name": "Ann",
        "last_name": "",
        "phone": PHONE,
        "email": "ann@example.com",
        **FIRST,
        "started_at": "2026-11-21T12:00:00.000Z",
    }
    assert (await recorded())[1:] == [("new_conversation", event)]


async def test_the_second_message_finds_the_conversation_and_emits_no_event(
    account: Opened, unit_for: UnitFor, conversation: Conversation, recorded: Recorded
) -> None:
    async with unit_for(account) as unit:
        assert (await _open(unit)).id == conversation.id

    assert [name for name, _ in await recorded()] == ["new_contact", "new_conversation"]


async def test_two_first_messages_at_once_open_one_conversation(
    account: Opened, unit_for: UnitFor, recorded: Recorded
) -> None:
    begun = asyncio.Barrier(2)

    async def open_one() -> int:
        async with unit_for(account) as unit:
            await contacts.find_by_phone(unit, PHONE)
            await within("both to begin", begun.wait())
            return (await _open(unit)).id

    first, second = await asyncio.gather(open_one(), open_one())

    assert first == second
    assert [name for name, _ in await recorded()] == ["new_contact", "new_conversation"]


@pytest.mark.parametrize(
    ("change", "after"),
    [
        ({}, ("open", 2)),
        ({"status": ConversationStatus.closed}, ("closed", 2)),
        ({"status": None}, ("open", 2)),
    ],
)
async def test_only_the_given_fields_are_changed(
    unit: UnitOfWork, conversation: Conversation, change: Any, after: tuple[str, int]
) -> None:
    updated = await service.update(unit, conversation.id, change)

    assert (updated.status, updated.unread_count) == after
    assert (updated.assignee_id, updated.last_message_at) == (None, conversation.last_message_at)


async def test_a_closed_conversation_can_be_opened_again(unit: UnitOfWork, conversation: Conversation) -> None:
    await service.update(unit, conversation.id, {"status": ConversationStatus.closed})

    assert (await service.update(unit, conversation.id, {"status": ConversationStatus.open})).status == "open"


async def test_a_conversation_is_assigned_to_a_user_and_unassigned(
    unit: UnitOfWork, conversation: Conversation
) -> None:
    [owner] = await accounts.list_users(unit)

    given = await service.assign(unit, conversation.id, owner.id)
    assert given.assignee_id == owner.id

    kept = await service.update(unit, conversation.id, {"status": None})
    assert kept.assignee_id == owner.id

    taken = await service.assign(unit, conversation.id, None)
    assert taken.assignee_id is None


async def test_a_conversation_cannot_be_given_to_a_person_of_another_account(
    account: Opened, new_account: Callable[..., Any], unit_for: UnitFor, conversation: Conversation
) -> None:
    async with unit_for(await new_account()) as other:
        [stranger] = await accounts.list_users(other)

    with pytest.raises(NotFound, match=f"^No user with id {stranger.id}.$"):
        async with unit_for(account) as unit:
            await service.assign(unit, conversation.id, stranger.id)

    async with unit_for(account) as unit:
        same = await queries.get(unit, conversation.id)
        assert (same.assignee_id, same.version) == (None, 0)


async def test_conversations_are_listed_by_their_latest_message(unit: UnitOfWork) -> None:
    ids = []
    for number in range(3):
        unit.clock = SetClock(NOON + timedelta(minutes=number % 2))
        ids.append((await _open(unit, f"+1202555010{number}")).id)

    first = await queries.find_page(unit, ConversationFilter(), Window(2))
    second = await queries.find_page(unit, ConversationFilter(), Window(2, first.end_cursor))

    assert [each.id for each in [*first.nodes, *second.nodes]] == [ids[1], ids[2], ids[0]]
    assert (await first.has_next_page(), await second.has_next_page(), await first.total()) == (True, False, Total(3))


async def test_conversations_are_found_by_all_that_an_inbox_shows(unit: UnitOfWork) -> None:
    [owner] = await accounts.list_users(unit)
    [number] = await numbers.list_active(unit)
    closed, given, unread = [await _open(unit, f"+1202555010{number}") for number in range(3)]
    await service.update(unit, closed.id, {"status": ConversationStatus.closed})
    await service.assign(unit, given.id, owner.id)
    unread.unread_count, unread.possible_opt_out, unread.sending_number = 1, True, number.phone_number
    await unit.save(unread)
    await people.update(unit, unread.contact_id, {"first_name": "Zoë", "last_name": "Ruiz"})

    async def found(**wanted: Any) -> list[int]:
        page = await queries.find_page(unit, ConversationFilter(**wanted), Window())
        assert await page.total() == Total(len(page.nodes))
        return [each.id for each in page.nodes]

    assert await found(status=ConversationStatus.closed) == [closed.id]
    assert sorted(await found(status=ConversationStatus.open)) == [given.id, unread.id]
    assert await found(assignee_id=owner.id) == [given.id]
    assert await found(contact_id=unread.contact_id) == [unread.id]
    assert await found(unread_only=True) == [unread.id]
    assert await found(unread_only=True, status=ConversationStatus.closed) == []
    assert sorted(await found(unassigned=True)) == [closed.id, unread.id]
    assert await found(unassigned=True, status=ConversationStatus.open) == [unread.id]
    assert await found(possible_opt_out=True) == [unread.id]
    assert await found(phone_number_id=number.id) == [unread.id]
    assert await found(search="zoë r") == [unread.id]
    assert await found(search="(202) 555-0100") == [closed.id]
    assert sorted(await found(search=" ")) == [closed.id, given.id, unread.id]
    assert await found(phone_number_id=999999999) == []
    with pytest.raises(InvalidInput, match="unassigned must not be given together with assignee_id"):
        await found(unassigned=True, assignee_id=owner.id)


@pytest.mark.parametrize(("opted_out", "status"), [(True, "opted_out"), (False, "active")])
async def test_a_decision_on_a_possible_opt_out_ends_the_hold_and_the_flag(
    unit: UnitOfWork, conversation: Conversation, opted_out: bool, status: str
) -> None:
    mine = await queries.get(unit, conversation.id, lock=True)
    mine.possible_opt_out = True
    await unit.save(mine)
    await opt_outs.hold(unit, await contacts.get(unit, mine.contact_id, lock=True))

    decided = await review.decide(unit, conversation.id, opted_out=opted_out)

    contact = await contacts.get(unit, mine.contact_id)
    assert (decided.possible_opt_out, contact.held_until, contact.status) == (False, None, status)


@pytest.mark.parametrize(
    "lift",
    [
        lambda unit, whom: review.record_opt_out(unit, whom, Evidence("verbal", "Stop")),
        lambda unit, whom: review.record_opt_in(unit, whom, Evidence("verbal", "Go on.")),
        lambda unit, whom: review.update_contact(unit, whom, {"phone": "+12025550199"}),
    ],
    ids=["an opt-out", "an opt-in", "another phone"],
)
async def test_every_other_end_of_a_hold_clears_the_flag(
    account: Opened, unit_for: UnitFor, recorded: Recorded, lift: Callable[[UnitOfWork, int], Awaitable[Any]]
) -> None:
    async with unit_for(account) as unit:
        mine = await _open(unit)
        mine.possible_opt_out = True
        await unit.save(mine)
        await opt_outs.hold(unit, await contacts.get(unit, mine.contact_id, lock=True))

    async with unit_for(account) as unit:
        await lift(unit, mine.contact_id)

        assert (await queries.get(unit, mine.id)).possible_opt_out is False
        assert (await contacts.get(unit, mine.contact_id)).held_until is None
    changed = [payload for name, payload in await recorded() if name == "conversation_changed"]
    assert [payload["possible_opt_out"] for payload in changed] == [False]


async def test_a_change_that_leaves_the_hold_leaves_the_flag(unit: UnitOfWork) -> None:
    mine = await _open(unit)
    mine.possible_opt_out = True
    await unit.save(mine)
    await opt_outs.hold(unit, await contacts.get(unit, mine.contact_id, lock=True))

    await review.update_contact(unit, mine.contact_id, {"phone": PHONE, "first_name": "Ann"})

    assert (await queries.get(unit, mine.id)).possible_opt_out is True


async def _open(unit: UnitOfWork, phone: str = PHONE) -> Conversation:
    contact = await people.find_or_create(unit, phone, "inbound_sms")
    return await service.find_or_open(unit, contact, FIRST)

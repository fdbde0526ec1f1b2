"""Marking a conversation read: up to the message that was seen, and nothing that came since."""

import pytest

from app.domain.carriers.carrier import InboundMessage
from app.domain.conversations import queries as conversations
from app.domain.conversations.models import ConversationStatus
from app.domain.kernel.errors import InvalidInput, NotFound
from app.domain.kernel.paging import Window
from app.domain.messages import queries, reading
from app.domain.messages.queries import MessageFilter
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.domain.conftest import Recorded, UnitFor

PHONE = "+12025550143"
OTHER = "+12025550144"


async def text_in(services: Services, account: Opened, unit_for: UnitFor, *phones: str) -> list[int]:
    """Have contacts text in, in turn; return the ids of the messages in order."""
    for number, phone in enumerate(phones):
        await services.inbox.receive("sandbox", InboundMessage(f"in-{number}", phone, account.phone_number, "Hello"))
    async with unit_for(account) as unit:
        return sorted(each.id for each in (await queries.find_page(unit, MessageFilter(), Window())).nodes)


async def mark(account: Opened, unit_for: UnitFor, conversation_id: int, seen: int) -> tuple[int | None, int]:
    async with unit_for(account) as unit:
        read = await reading.update(unit, conversation_id, {"read_up_to": seen})
        return read.read_up_to, read.unread_count


async def thread_of(account: Opened, unit_for: UnitFor, message_id: int) -> int:
    async with unit_for(account) as unit:
        return (await queries.get(unit, message_id)).conversation_id


async def test_messages_after_the_last_one_seen_stay_unread(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    first, second, third = await text_in(services, account, unit_for, PHONE, PHONE, PHONE)
    thread = await thread_of(account, unit_for, first)

    assert await mark(account, unit_for, thread, first) == (first, 2)
    assert await mark(account, unit_for, thread, second) == (second, 1)
    assert await mark(account, unit_for, thread, third) == (third, 0)


async def test_an_earlier_message_changes_nothing(
    services: Services, account: Opened, unit_for: UnitFor, recorded: Recorded
) -> None:
    first, second = await text_in(services, account, unit_for, PHONE, PHONE)
    thread = await thread_of(account, unit_for, first)
    await mark(account, unit_for, thread, second)
    before = await recorded()

    assert await mark(account, unit_for, thread, first) == (second, 0)
    assert await recorded() == before


async def test_reading_is_told_with_the_number_of_unread_messages(
    services: Services, account: Opened, unit_for: UnitFor, recorded: Recorded
) -> None:
    first, _ = await text_in(services, account, unit_for, PHONE, PHONE)

    await mark(account, unit_for, await thread_of(account, unit_for, first), first)

    name, payload = (await recorded())[-1]
    assert (name, payload["unread_count"]) == ("conversation_changed", 1)


async def test_a_message_of_another_conversation_is_refused_and_changes_nothing(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    first, other = await text_in(services, account, unit_for, PHONE, OTHER)
    thread = await thread_of(account, unit_for, first)

    with pytest.raises(NotFound, match=f"^No message with id {other}.$"):
        async with unit_for(account) as unit:
            await reading.update(unit, thread, {"read_up_to": other, "status": ConversationStatus.closed})

    async with unit_for(account) as unit:
        same = await conversations.get(unit, thread)
        assert (same.read_up_to, same.unread_count, same.status) == (None, 1, "open")


async def test_a_conversation_is_marked_as_unread_again(services: Services, account: Opened, unit_for: UnitFor) -> None:
    first, second = await text_in(services, account, unit_for, PHONE, PHONE)
    thread = await thread_of(account, unit_for, first)

    async def unread() -> tuple[int, dict[queries.Read, int]]:
        async with unit_for(account) as unit:
            same = await reading.update(unit, thread, {"unread": True})
            return same.unread_count, await queries.find_first_unread(unit, [(thread, same.read_up_to)])

    assert await unread() == (2, {(thread, None): first})
    assert await mark(account, unit_for, thread, second) == (second, 0)
    assert await unread() == (1, {(thread, second - 1): second})
    async with unit_for(account) as unit:
        with pytest.raises(InvalidInput, match="unread must not be given together with read_up_to"):
            await reading.update(unit, thread, {"unread": True, "read_up_to": first})
        assert await queries.find_first_unread(unit, [(thread, second)]) == {}

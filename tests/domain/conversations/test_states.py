"""Snoozing, versions, waiting and AI states of conversations, and changes of many."""

from datetime import timedelta
from typing import Any

import pytest

from app.domain.accounts import queries as accounts
from app.domain.carriers.carrier import InboundMessage
from app.domain.conversations import queries, service
from app.domain.conversations.models import ConversationStatus
from app.domain.conversations.queries import ConversationCounts, ConversationFilter, ConversationSort
from app.domain.conversations.service import MAX_TOGETHER
from app.domain.kernel.errors import Conflict, InvalidInput
from app.domain.kernel.paging import Window
from app.domain.kernel.unit_of_work import Actor, UnitOfWork
from app.domain.messages.models import Purpose
from app.domain.messages.requests import Send
from app.domain.onboarding.service import Opened
from app.services import Services
from tests.conftest import unit_of
from tests.domain.conftest import NOON, Recorded, SetClock, UnitFor
from tests.factories.conversations import CONVERSATIONS

PHONE = "+12025550143"
LATER = NOON + timedelta(hours=20)


async def text_in(services: Services, account: Opened, body: str = "Hello", phone: str = PHONE) -> int:
    """Have a contact text in; return the id of the conversation."""
    number = await CONVERSATIONS.count(services)
    inbound = InboundMessage(f"in-{phone}-{body}-{number}", phone, account.phone_number, body)
    await services.inbox.receive("sandbox", inbound)
    return await CONVERSATIONS.last(services, "id")


async def snooze(unit_for: UnitFor, account: Opened, id: int) -> None:
    async with unit_for(account) as unit:
        unit.clock = SetClock()
        await service.update(unit, id, {"snoozed_until": LATER})


async def state(services: Services, id: int, *columns: str) -> Any:
    return await CONVERSATIONS.where(id=id).only(services, *columns)


async def send(services: Services, account: Opened, purpose: Purpose) -> None:
    wanted = Send(PHONE, "Hello", consent_attested=True, purpose=purpose)
    await services.acceptor.accept(Actor(account.account_id, frozenset(), "test"), wanted)


async def test_a_snoozed_conversation_is_open_again_when_it_is_due(
    services: Services, account: Opened, unit_for: UnitFor, recorded: Recorded
) -> None:
    id = await text_in(services, account)
    await snooze(unit_for, account, id)
    assert tuple(await state(services, id, "status", "snoozed_until", "version")) == ("snoozed", LATER, 1)

    for at, woken in ((LATER - timedelta(seconds=1), 0), (LATER, 1), (LATER, 0)):
        async with unit_for(account) as unit:
            unit.clock = SetClock(at)
            assert await service.wake(unit) == woken

    assert tuple(await state(services, id, "status", "snoozed_until")) == ("open", None)
    changed = [payload for name, payload in await recorded() if name == "conversation_changed"]
    shown = [(payload["status"], payload["snoozed_until"]) for payload in changed]
    assert shown == [("snoozed", "2026-11-22T08:00:00.000Z"), ("open", None)]


async def test_a_text_ends_a_snooze(services: Services, account: Opened, unit_for: UnitFor) -> None:
    id = await text_in(services, account)
    await snooze(unit_for, account, id)

    await text_in(services, account, "Again")

    assert tuple(await state(services, id, "status", "snoozed_until", "unread_count")) == ("open", None, 2)


@pytest.mark.parametrize(
    "fields",
    [
        {"status": ConversationStatus.snoozed},
        {"snoozed_until": NOON},
        {"snoozed_until": NOON + timedelta(days=367)},
        {"status": ConversationStatus.closed, "snoozed_until": LATER},
    ],
)
async def test_a_snooze_needs_a_time_in_the_future(
    services: Services, account: Opened, unit_for: UnitFor, fields: Any
) -> None:
    id = await text_in(services, account)

    async with unit_for(account) as unit:
        unit.clock = SetClock()
        with pytest.raises(InvalidInput, match=r"^snoozed_until must be "):
            await service.update(unit, id, fields)

    assert tuple(await state(services, id, "status", "version")) == ("open", 0)


async def test_assigning_an_outdated_version_of_a_conversation_is_refused(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    id = await text_in(services, account)
    async with unit_for(account) as unit:
        [owner] = await accounts.list_users(unit)
        taken = await service.assign(unit, id, owner.id, 0)
        assert (taken.assignee_id, taken.version) == (owner.id, 1)

    with pytest.raises(Conflict, match=rf"it is version 1 now, open, and assigned to user {owner.id}\. Read it"):
        async with unit_for(account) as unit:
            await service.assign(unit, id, None, 0)

    assert tuple(await state(services, id, "assignee_id", "version")) == (owner.id, 1)


@pytest.mark.parametrize(
    ("purpose", "waits"),
    [(Purpose.conversational, False), (Purpose.transactional, False), (Purpose.promotional, True)],
)
async def test_a_contact_waits_until_an_answer_and_a_campaign_is_none(
    services: Services, account: Opened, purpose: Purpose, waits: bool
) -> None:
    id = await text_in(services, account)
    first = await state(services, id, "waiting_since")
    await text_in(services, account, "Are you there?")
    assert first
    assert await state(services, id, "waiting_since") == first

    await send(services, account, purpose)

    assert tuple(await state(services, id, "waiting_since", "version")) == (first if waits else None, 1)


async def test_a_stop_and_a_closed_conversation_are_not_waiting(
    services: Services, account: Opened, unit_for: UnitFor
) -> None:
    stopped = await text_in(services, account, "STOP")
    closed = await text_in(services, account, phone="+12025550144")
    async with unit_for(account) as unit:
        await service.update(unit, closed, {"status": ConversationStatus.closed})

    assert [await state(services, id, "waiting_since") for id in (stopped, closed)] == [None, None]


async def test_the_conversation_that_has_waited_longest_comes_first(
    unit: UnitOfWork, services: Services, account: Opened
) -> None:
    ids = [await text_in(services, account, phone=f"+1202555014{digit}") for digit in range(3)]
    await text_in(services, account, "Still here", "+12025550140")
    latest = await queries.find_page(unit, ConversationFilter(), Window())
    first = await queries.find_page(unit, ConversationFilter(), Window(2), ConversationSort.oldest_waiting)
    place = Window(2, first.end_cursor)
    second = await queries.find_page(unit, ConversationFilter(), place, ConversationSort.oldest_waiting)

    assert [each.id for each in latest.nodes] == [ids[0], ids[2], ids[1]]
    assert [each.id for each in [*first.nodes, *second.nodes]] == ids


async def test_many_conversations_are_closed_and_assigned_together(
    services: Services, account: Opened, unit_for: UnitFor, recorded: Recorded
) -> None:
    ids = [await text_in(services, account, phone=f"+1202555014{digit}") for digit in range(3)]
    async with unit_for(account) as unit:
        [owner] = await accounts.list_users(unit)
        closed = await service.update_many(unit, [*ids, 999999999], {"status": ConversationStatus.closed})
        given = await service.assign_many(unit, ids[:2], owner.id)
        for size in (0, MAX_TOGETHER + 1):
            with pytest.raises(InvalidInput, match="ids must have from 1 to 100 entries"):
                await service.assign_many(unit, [1] * size, None)

    assert [[each.id for each in found] for found in (closed, given)] == [ids, ids[:2]]
    rows = await CONVERSATIONS.read(services, "status", "assignee_id", "version")
    assert [tuple(row) for row in rows] == [("closed", owner.id, 2)] * 2 + [("closed", None, 1)]
    assert [name for name, _ in await recorded()].count("conversation_changed") == 5


async def test_the_views_of_an_inbox_are_counted(services: Services, account: Opened, unit_for: UnitFor) -> None:
    ids = [await text_in(services, account, phone=f"+1202555014{digit}") for digit in range(4)]
    async with unit_for(account) as unit:
        [owner] = await accounts.list_users(unit)
        await service.assign(unit, ids[0], owner.id)
    await snooze(unit_for, account, ids[1])
    await CONVERSATIONS.where(id=ids[2]).change(services, possible_opt_out=True, unread_count=0)

    async with unit_of(services, Actor(account.account_id, frozenset(), "test", user_id=owner.id)) as unit:
        assert await queries.count(unit) == ConversationCounts(3, 1, 2, 3, 1, 1)
    async with unit_for(account) as unit:
        assert (await queries.count(unit)).mine == 0


async def test_an_agent_hands_over_and_is_released_again(
    services: Services, account: Opened, unit_for: UnitFor, recorded: Recorded
) -> None:
    id = await text_in(services, account)
    await snooze(unit_for, account, id)

    for change in (service.release_ai, service.pause_ai, service.hand_over, service.release_ai):
        async with unit_for(account) as unit:
            await change(unit, id)

    told = [payload for name, payload in await recorded() if name == "conversation_changed"]
    shown = [(payload["status"], payload["ai_state"]) for payload in told]
    assert shown[1:] == [("snoozed", "active"), ("snoozed", "paused"), ("open", "handed_over"), ("open", "active")]

"""People who take conversations over while an agent decides or has a reply written."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from app.domain.conversations import service as conversations
from app.domain.conversations.models import ConversationStatus
from app.domain.writing.writer import Failure
from tests.domain.agents.conftest import Chat
from tests.domain.conftest import UnitFor
from tests.domain.writing.writers import Typist, writers
from tests.factories.accounts import USERS, add_user
from tests.factories.agents import AGENT_RUNS, AGENTS, add_agent
from tests.factories.billing import balance_of
from tests.factories.conversations import CONVERSATION_ENTRIES, CONVERSATIONS
from tests.factories.traps import until_blocked
from tests.waiting import within


@pytest.fixture
async def agent(chat: Chat, unit_for: UnitFor) -> int:
    """Provide an active agent in mode auto that hands over to the owner."""
    owner = await USERS.where(account_id=chat.account.account_id).only(chat.services, "id")
    async with unit_for(chat.account) as unit:
        return await add_agent(unit, {"hand_over_to": owner})


@pytest.mark.parametrize("answer", [Failure.timeout, "The customer is unclear.", ["I am a real person, it is $30."]])
async def test_a_conversation_that_a_person_took_over_during_the_draft_is_not_handed_over(
    chat: Chat, agent: int, unit_for: UnitFor, answer: Any
) -> None:
    bob = await add_user(chat.services, chat.account.account_id, "bob@example.com", "member")

    async def take_over() -> None:
        id = await CONVERSATIONS.only(chat.services, "id")
        async with unit_for(chat.account) as unit:
            await conversations.pause_ai(unit, id)
            await conversations.assign(unit, id, bob)
            await conversations.update(unit, id, {"status": ConversationStatus.closed})

    chat.writers = writers(Typist([answer], before=take_over))

    assert (await chat.ask("How much is a haircut?"))[0] == "superseded"
    state = await CONVERSATIONS.only(chat.services, "ai_state", "assignee_id", "status")
    assert state == ("paused", bob, "closed")
    assert await CONVERSATION_ENTRIES.where(kind="note").count(chat.services) == 0
    assert await chat.sent() == []
    assert await balance_of(chat.services) == 1000


async def test_an_agent_that_was_paused_in_a_conversation_as_it_began_stays_paused(
    chat: Chat, agent: int, unit_for: UnitFor
) -> None:
    await chat.write("When are you open?")
    await chat.wait(seconds=20)
    id = await CONVERSATIONS.only(chat.services, "id")
    async with unit_for(chat.account) as unit:
        await conversations.pause_ai(unit, id)
        running = asyncio.create_task(chat.run())
        await until_blocked(chat.services.database.pool)
    await within("the run", running)

    assert await CONVERSATIONS.only(chat.services, "ai_state") == "paused"
    assert await chat.sent() == []
    assert await AGENT_RUNS.only(chat.services, "outcome", "gate") == ("stopped", "person_answers")


async def test_an_agent_does_not_exceed_its_limit_of_a_day_by_drafts_that_are_written_at_the_same_time(
    chat: Chat, agent: int
) -> None:
    await AGENTS.change(chat.services, daily_limit=2)
    chat.writers = writers(Typist([["A haircut is $30."]]))
    for number in range(5):
        await replace(chat, phone=f"+1202555019{number}").write("How much is a haircut?")
    await chat.wait(seconds=20)

    await chat.run()

    assert await AGENT_RUNS.where(gate="daily_limit").count(chat.services) == 3
    assert len(await chat.sent()) == 2


async def test_a_question_that_is_followed_by_thanks_while_its_answer_is_written_is_answered(
    chat: Chat, agent: int
) -> None:
    async def thank() -> None:
        if chat.count == 1:
            await chat.write("Thanks!")

    chat.writers = writers(Typist([["A haircut is $30."]], before=thank))
    await chat.ask("How much is a haircut?")
    assert await chat.sent() == []

    await chat.wait(seconds=20)
    await chat.run()

    assert await AGENT_RUNS.read(chat.services, "outcome", "messages") == [("superseded", 1), ("sent", 2)]
    assert await chat.sent() == ["A haircut is $30."]

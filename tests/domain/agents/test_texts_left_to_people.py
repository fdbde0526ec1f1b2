"""Notices of texts that an AI agent was to answer, and left to people."""

import pytest

from app.domain.agents import queries
from app.domain.agents.conclusions import end
from app.domain.agents.models import Outcome
from app.domain.segments import service as segments
from tests.domain.agents.conftest import Chat
from tests.domain.conftest import UnitFor
from tests.factories.agents import AGENT_RUNS, AGENTS, add_agent
from tests.factories.notices import NOTICES


@pytest.fixture(autouse=True)
async def answering(chat: Chat, unit_for: UnitFor) -> None:
    """Give an agent that has answered the contact, without a notice."""
    async with unit_for(chat.account) as unit:
        await add_agent(unit)
    await chat.ask("When are you open?")
    await NOTICES.delete(chat.services)


async def notices(chat: Chat) -> list[tuple[str, str, int]]:
    await chat.dispatch()
    return await NOTICES.read(chat.services, "kind", "title", "count")


LEFT = [("new_message", "An AI agent left a text to people", 1)]


async def test_a_text_that_the_agent_answers_is_not_noticed(chat: Chat) -> None:
    assert (await chat.ask("And when do you open?"))[0] == "sent"

    assert await notices(chat) == []


async def test_a_text_outside_the_hours_of_the_agent_is_noticed_once(chat: Chat) -> None:
    await AGENTS.change(chat.services, closes_at=0)

    assert await chat.ask("Are you there?") == ("stopped", "hours")
    assert await notices(chat) == LEFT


async def test_a_text_that_asks_for_no_answer_is_not_noticed(chat: Chat) -> None:
    assert await chat.ask("Thanks") == ("stopped", "closing")

    assert await notices(chat) == []


async def test_a_text_of_a_contact_who_has_left_the_segment_of_the_agent_is_noticed(
    chat: Chat, unit_for: UnitFor
) -> None:
    async with unit_for(chat.account) as unit:
        segment = await segments.create(unit, "Members", {"field": "tags", "op": "has_any", "value": ["member"]})
        segment_id = segment.id
    await AGENTS.change(chat.services, segment_id=segment_id)

    await chat.ask("Are you there?")

    assert await AGENT_RUNS.count(chat.services) == 1
    assert await notices(chat) == LEFT


async def test_a_text_whose_run_has_failed_is_noticed(chat: Chat, unit_for: UnitFor) -> None:
    await chat.write("Are you there?")
    async with unit_for(chat.account) as unit:
        run = await queries.get_run(unit, await AGENT_RUNS.last(chat.services, "id"), lock=True)
        end(unit, run, Outcome.failed)

    assert await notices(chat) == LEFT


async def test_a_text_that_was_noticed_at_once_is_not_noticed_again(chat: Chat) -> None:
    await AGENTS.change(chat.services, mode="approve", closes_at=0)

    await chat.ask("Are you there?")

    [(kind, title, count)] = await notices(chat)
    assert (kind, title, count) == ("new_message", "New text from a contact", 1)

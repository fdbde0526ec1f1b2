"""The times for which texts of contacts, and approved drafts, wait."""

from dataclasses import replace
from datetime import timedelta

import pytest

from app.domain.accounts.scopes import ALL
from app.domain.agents import drafts, queries, service
from app.domain.kernel.errors import Conflict, InvalidInput
from tests.domain.agents.conftest import Chat
from tests.domain.conftest import UnitFor
from tests.factories.accounts import ACCOUNTS
from tests.factories.agents import AGENT_RUNS, add_agent
from tests.factories.conversations import CONVERSATIONS


@pytest.fixture
async def agent(chat: Chat, unit_for: UnitFor) -> int:
    """Provide an active agent in mode auto."""
    async with unit_for(chat.account) as unit:
        return await add_agent(unit)


@pytest.fixture
async def draft(chat: Chat, agent: int, unit_for: UnitFor) -> int:
    """Provide a run of the agent, whose draft waits for approval."""
    async with unit_for(chat.account) as unit:
        unit.actor = replace(unit.actor, scopes=ALL)
        await service.update(unit, agent, {"mode": "approve"})
    await chat.ask("When are you open?")
    return await AGENT_RUNS.only(chat.services, "id")


async def test_a_burst_never_shortens_the_wait_of_an_agent(chat: Chat, agent: int, unit_for: UnitFor) -> None:
    async with unit_for(chat.account) as unit:
        unit.actor = replace(unit.actor, scopes=ALL)
        await service.update(unit, agent, {"debounce_seconds": 300})
    await chat.write("Hi")
    await chat.wait(seconds=50)
    await chat.write("When are you open?")
    await chat.wait(seconds=240)
    await chat.run()
    assert await chat.sent() == []

    await chat.wait(seconds=70)
    await chat.run()
    assert len(await chat.sent()) == 1


@pytest.mark.parametrize("body", ["", " ", "\u200b"])
async def test_a_draft_is_not_approved_with_a_text_that_shows_nothing(
    chat: Chat, draft: int, unit_for: UnitFor, body: str
) -> None:
    async with unit_for(chat.account) as unit:
        with pytest.raises(InvalidInput, match="body must have 1 to 1600 characters"):
            await drafts.approve(unit, draft, body)

    assert await AGENT_RUNS.only(chat.services, "outcome") == "drafted"


async def test_an_approved_draft_waits_for_approval_no_more(chat: Chat, draft: int, unit_for: UnitFor) -> None:
    async with unit_for(chat.account) as unit:
        await drafts.approve(unit, draft)

    async with unit_for(chat.account) as unit:
        assert (await queries.get_run(unit, draft)).outcome is None
        with pytest.raises(Conflict, match="it is sending"):
            await drafts.approve(unit, draft)


async def test_an_approved_draft_is_not_sent_once_the_last_text_of_the_contact_is_a_day_old(
    chat: Chat, draft: int, unit_for: UnitFor
) -> None:
    async with unit_for(chat.account) as unit:
        await drafts.approve(unit, draft)
    await ACCOUNTS.change(chat.services, status="suspended")
    await chat.run()
    assert await AGENT_RUNS.only(chat.services, "status") == "sending"

    await ACCOUNTS.change(chat.services, status="active")
    await CONVERSATIONS.change(chat.services, last_inbound_at=chat.clock.now() - timedelta(hours=25))
    await chat.wait(minutes=1)
    await chat.run()

    assert await chat.sent() == []
    assert await AGENT_RUNS.only(chat.services, "outcome") == "superseded"

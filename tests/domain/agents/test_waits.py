"""The times for which texts of contacts, and approved drafts, wait."""

from dataclasses import replace

import pytest

from app.domain.accounts.scopes import ALL
from app.domain.agents import service
from tests.domain.agents.conftest import Chat
from tests.domain.conftest import UnitFor
from tests.factories.agents import add_agent


@pytest.fixture
async def agent(chat: Chat, unit_for: UnitFor) -> int:
    """Provide an active agent in mode auto."""
    async with unit_for(chat.account) as unit:
        return await add_agent(unit)


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

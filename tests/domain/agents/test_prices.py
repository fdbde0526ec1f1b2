"""The credits of drafts of agents are those that were debited for them."""

import pytest

from app.domain.agents import drafts
from app.domain.billing import prices
from tests.domain.agents.conftest import Chat
from tests.domain.conftest import UnitFor
from tests.factories.agents import AGENT_RUNS, add_agent
from tests.factories.billing import balance_of


async def test_a_run_keeps_the_credits_that_were_debited_for_its_draft(
    chat: Chat, unit_for: UnitFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with unit_for(chat.account) as unit:
        await add_agent(unit)
    monkeypatch.setattr(prices, "GENERATE", 2)

    assert await chat.ask("When are you open?") == ("sent", None)

    assert await AGENT_RUNS.read(chat.services, "credits") == [2]
    assert await balance_of(chat.services) == 997


async def test_a_trial_shows_the_credits_that_were_debited_for_it(
    chat: Chat, unit_for: UnitFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with unit_for(chat.account) as unit:
        agent = await add_agent(unit)
    monkeypatch.setattr(prices, "GENERATE", 2)

    async with unit_for(chat.account) as unit:
        trial = await drafts.try_out(unit, chat.writers, agent, "When are you open?")

    assert (trial.credits, trial.credits_remaining) == (2, 998)

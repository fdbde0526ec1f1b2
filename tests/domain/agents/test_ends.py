"""Agents that are deleted, and contacts that are erased, while a reply is being written."""

import pytest

from app.domain.agents import service
from app.domain.erasure import service as erasure
from tests.domain.agents.conftest import Chat
from tests.domain.conftest import UnitFor
from tests.domain.writing.writers import Typist, writers
from tests.factories.agents import AGENT_RUNS, add_agent
from tests.factories.billing import balance_of
from tests.factories.contacts import CONTACTS
from tests.factories.writing import WRITER_CALLS


@pytest.fixture
async def agent(chat: Chat, unit_for: UnitFor) -> int:
    """Provide an active agent in mode auto."""
    async with unit_for(chat.account) as unit:
        return await add_agent(unit)


async def test_an_agent_that_is_deleted_during_a_draft_costs_nothing(chat: Chat, agent: int, unit_for: UnitFor) -> None:
    async def delete() -> None:
        async with unit_for(chat.account) as unit:
            await service.delete(unit, agent)

    chat.writers = writers(Typist([["It is $30."]], before=delete))

    await chat.write("How much is a haircut?")
    await chat.wait(seconds=20)
    await chat.run()

    assert await chat.sent() == []
    assert await WRITER_CALLS.read(chat.services, "status") == ["refunded"]
    assert await AGENT_RUNS.count(chat.services) == 0
    assert await balance_of(chat.services) == 1000


async def test_a_text_whose_agent_is_deleted_while_it_writes_is_answered_by_another_one(
    chat: Chat, agent: int, unit_for: UnitFor
) -> None:
    async with unit_for(chat.account) as unit:
        await add_agent(unit)

    async def delete() -> None:
        if not await WRITER_CALLS.where(status="refunded").count(chat.services):
            async with unit_for(chat.account) as unit:
                await service.delete(unit, await AGENT_RUNS.only(chat.services, "agent_id"))

    chat.writers = writers(Typist([["A haircut is $30."]], before=delete))
    await chat.write("How much is a haircut?")
    await chat.wait(seconds=20)
    await chat.runner.run()
    await chat.run()

    assert await chat.sent() == ["A haircut is $30."]
    assert await balance_of(chat.services) == 998


async def test_a_contact_who_is_erased_during_a_draft_costs_nothing(chat: Chat, agent: int, unit_for: UnitFor) -> None:
    async def erase() -> None:
        contact = await CONTACTS.only(chat.services, "id")
        async with unit_for(chat.account) as unit:
            await erasure.erase(unit, contact)

    chat.writers = writers(Typist([["It is $30."]], before=erase))

    await chat.write("How much is a haircut?")
    await chat.wait(seconds=20)
    await chat.run()

    assert await WRITER_CALLS.read(chat.services, "status") == ["refunded"]
    assert await balance_of(chat.services) == 1000

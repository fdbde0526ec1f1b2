"""Workers that die anywhere between a text of a contact and the answer: one answer, one paid call."""

import asyncio

import pytest

from app.domain.agents.runner import AgentRunner
from app.domain.kernel.unit_of_work import Actor
from app.domain.writing import calls
from tests.conftest import unit_of
from tests.domain.agents.conftest import Chat
from tests.domain.conftest import UnitFor
from tests.domain.writing.writers import Typist, writers
from tests.factories.agents import AGENT_RUNS, FAQ, add_agent
from tests.factories.billing import balance_of
from tests.factories.writing import WRITER_CALLS
from tests.waiting import within


async def live_for(worker: AgentRunner, steps: int) -> None:
    """Run a worker that dies after some steps of the event loop, with its transaction."""
    task = asyncio.create_task(worker.run())
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    await within("the death of the worker", asyncio.gather(task, return_exceptions=True))


@pytest.mark.parametrize("longest", [2, 12, 25, 60])
async def test_one_answer_is_sent_and_one_call_paid_wherever_workers_die(
    chat: Chat, unit_for: UnitFor, longest: int
) -> None:
    async with unit_for(chat.account) as unit:
        await add_agent(unit)
    await chat.write("When are you open?")
    await chat.wait(seconds=20)

    for steps in (longest - 1, longest):  # a third interruption hands the conversation to a person
        await live_for(chat.runner, steps)
        await (
            AGENT_RUNS.where(ended_at=None)
            .where_not(claimed_until=None)
            .change(chat.services, claimed_until=chat.clock.now())
        )
    await chat.run()
    await chat.wait(minutes=10)
    async with unit_of(chat.services, Actor(chat.account.account_id, frozenset())) as unit:
        unit.clock = chat.clock
        await calls.refund_lapsed(unit)

    assert await chat.sent() == [FAQ["When are you open?"]]
    assert await AGENT_RUNS.read(chat.services, "status", "outcome") == [("done", "sent")]
    assert await WRITER_CALLS.where(status="done").count(chat.services) == 1
    assert await WRITER_CALLS.where(status="running").count(chat.services) == 0
    assert await balance_of(chat.services) == 998


async def test_a_draft_that_was_interrupted_three_times_is_left_to_a_person(chat: Chat, unit_for: UnitFor) -> None:
    async with unit_for(chat.account) as unit:
        await add_agent(unit)
    await chat.write("When are you open?")
    await chat.wait(seconds=20)
    await AGENT_RUNS.where(ended_at=None).change(chat.services, attempts=3)

    await chat.run()

    assert await chat.sent() == ["Thanks for your message. A member of our team will answer you."]
    assert await WRITER_CALLS.count(chat.services) == 0


@pytest.mark.parametrize(
    ("seconds", "statuses"),
    [(30, ["refunded", "done"]), (300, ["done"])],
    ids=["the_draft_of_a_lost_claim_is_refunded", "a_claim_outlasts_the_timeout_of_the_ai"],
)
async def test_one_draft_is_paid_though_the_first_one_takes_minutes(
    chat: Chat, unit_for: UnitFor, seconds: float, statuses: list[str]
) -> None:
    async def stall() -> None:
        model.before = None
        await chat.wait(minutes=3)
        await chat.run()

    async with unit_for(chat.account) as unit:
        await add_agent(unit)
    answer = FAQ["When are you open?"]
    model = Typist([[answer]], before=stall)
    chat.writers = writers(model, seconds=seconds)
    assert await chat.ask("When are you open?") == ("sent", None)

    assert await chat.sent() == [answer]
    assert await WRITER_CALLS.read(chat.services, "status") == statuses
    assert await balance_of(chat.services) == 998

"""Workers are killed while texts go out: a short form of what `make chaos` does at length."""

import asyncio
from pathlib import Path

import pytest

from tests.chaos.campaigns import await_decided, begin, end
from tests.chaos.connectors import exchange
from tests.chaos.sequences import run_sequence
from tests.chaos.storm import REPORT_NOW, storm

pytestmark = pytest.mark.anyio


async def test_workers_that_are_killed_lose_no_text_and_send_none_twice(tmp_path: Path) -> None:
    async with storm(tmp_path, credits=200, seed=1) as weather:
        await asyncio.gather(weather.send(150), weather.kill(3, pause=0.3))
        await weather.forget(50)
        await weather.pool.execute(REPORT_NOW)
        await weather.settle()

        await weather.check()

    assert weather.killed == 3


async def test_a_campaign_whose_workers_are_killed_sends_each_recipient_one_text(tmp_path: Path) -> None:
    async with storm(tmp_path, credits=2000, seed=2) as weather:
        await begin(weather, 2000)
        await await_decided(weather, 200)
        await weather.kill(2, pause=0.5)

        sent = await end(weather, 2000)

    assert (sent.states, sent.calls, sent.credits, weather.killed) == ({"delivered": 2000}, 2000, 2000, 2)


async def test_a_drip_sequence_whose_workers_are_killed_sends_each_contact_each_step_once(tmp_path: Path) -> None:
    async with storm(tmp_path, credits=900, seed=3) as weather:
        await run_sequence(weather, people=300, kills=3)

    assert weather.killed == 3


async def test_an_exchange_with_a_crm_and_a_scheduling_tool_loses_nothing_and_sends_no_text_twice_after_kills(
    tmp_path: Path,
) -> None:
    async with exchange(tmp_path, seed=4) as exchanged:
        await exchanged.run("worker", "web")
        await exchanged.settle()

        await exchanged.check()

    assert min(len(exchanged.asked), len(exchanged.said), len(exchanged.booked)) > 0

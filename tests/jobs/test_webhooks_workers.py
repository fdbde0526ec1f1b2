"""Deliveries by worker processes: some are killed, and Valkey forgets."""

import asyncio
from pathlib import Path

import pytest

from tests.chaos.webhooks import ACCOUNTS, weather

pytestmark = pytest.mark.anyio

EVENTS, KILLS = 300, 3
IN_FLIGHT = 8 * ACCOUNTS


async def test_killed_workers_lose_no_event_and_repeat_only_deliveries_in_flight(
    tmp_path: Path,
) -> None:
    async with weather(tmp_path, seed=7) as storm:
        await asyncio.gather(storm.tell(EVENTS, rate=60), storm.kill(KILLS, pause=0.5))
        await storm.settle()

        twice = await storm.check()

    assert storm.killed == KILLS
    assert twice <= KILLS * IN_FLIGHT


async def test_deliveries_go_on_once_and_in_order_after_valkey_has_forgotten_everything(tmp_path: Path) -> None:
    async with weather(tmp_path, seed=7, calm=True) as calm:
        await calm.tell(20, rate=100)
        await calm.settle()
        await calm.tell(100, rate=200)
        await calm.redis.flushall()
        await calm.tell(20, rate=100)
        await calm.settle()

        twice = await calm.check()

    assert twice == 0

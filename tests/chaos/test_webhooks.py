"""Five thousand events, a subscriber that is not well, and workers that are killed without end; then Valkey forgets."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.chaos.webhooks import weather

pytestmark = pytest.mark.anyio

EVENTS, KILLS, RATE = 5_000, 20, 50.0


async def test_no_event_is_lost_and_at_most_one_in_a_thousand_comes_twice_whatever_is_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with weather(tmp_path, seed=20_261_121) as storm:
        await asyncio.gather(storm.tell(EVENTS, RATE), storm.kill(KILLS, pause=EVENTS / RATE / KILLS / 2))
        seconds = await storm.settle()

        twice = await storm.check()

    posts = len(storm.receiver.posts)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{EVENTS} events, {KILLS} kills, {posts} posts; {seconds:.1f} s to settle; {twice} came twice\n"
        )
    assert storm.killed == KILLS
    assert twice <= EVENTS / 1000


async def test_deliveries_go_on_within_5_seconds_after_valkey_has_forgotten_everything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with weather(tmp_path, seed=7, calm=True) as calm:
        await calm.tell(20, rate=100)
        await calm.settle()
        await calm.tell(100, rate=200)
        await calm.redis.flushall()
        await calm.tell(20, rate=100)

        seconds = await calm.settle()

        twice = await calm.check()

    with capsys.disabled():
        sys.stdout.write(f"\nAll forgotten: {seconds:.1f} s to settle; {twice} came twice\n")
    assert seconds < 5
    assert twice == 0

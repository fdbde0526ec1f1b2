"""Five thousand events, a subscriber that is not well, and workers that are killed without end."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.chaos.webhooks import weather

pytestmark = pytest.mark.anyio

EVENTS, KILLS, RATE = 5_000, 20, 80.0


async def test_no_event_is_lost_and_at_most_one_in_a_thousand_comes_twice_whatever_is_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with weather(tmp_path, seed=20_261_121) as storm:
        await asyncio.gather(storm.tell(EVENTS, RATE), storm.kill(KILLS, pause=EVENTS / RATE / KILLS))
        seconds = await storm.settle()

        twice = await storm.check()

    posts = len(storm.receiver.posts)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{EVENTS} events, {KILLS} kills, {posts} posts; {seconds:.1f} s to settle; {twice} came twice\n"
        )
    assert storm.killed == KILLS
    assert twice <= EVENTS / 1000

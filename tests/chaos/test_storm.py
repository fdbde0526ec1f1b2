"""Two thousand texts, workers that are killed without end, and a Valkey that forgets."""

import asyncio
import sys
from pathlib import Path

import pytest

from tests.chaos.storm import REPORT_NOW, storm

pytestmark = pytest.mark.anyio

MESSAGES, KILLS, BURST = 2_000, 20, 200


async def test_no_text_is_lost_or_sent_twice_whatever_is_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with storm(tmp_path, credits=MESSAGES, seed=20_261_121) as weather:
        await asyncio.gather(weather.send(MESSAGES - BURST), weather.kill(KILLS, pause=1.0))
        seconds = await weather.forget(BURST)
        await weather.pool.execute(REPORT_NOW)
        await weather.settle()

        await weather.check()

    with capsys.disabled():
        sys.stdout.write(
            f"\n{MESSAGES} texts, {KILLS} kills; {seconds:.1f} s after FLUSHALL {BURST} were handed over\n"
        )
    assert weather.killed == KILLS
    assert seconds < 5

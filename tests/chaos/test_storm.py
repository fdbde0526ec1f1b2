"""Two thousand texts, workers that are killed, connections that are lost, and a Valkey that forgets."""

import asyncio
import sys
import time
from pathlib import Path

import pytest

from tests.chaos.storm import PENDING, REPORT_NOW, storm

pytestmark = pytest.mark.anyio

MESSAGES, KILLS, CUTS, BURST = 2_000, 20, 20, 200


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
        sys.stdout.write(f"\n{MESSAGES} texts, {KILLS} kills; {seconds:.1f} s after FLUSHALL {BURST} were handed off\n")
    assert weather.killed == KILLS
    assert seconds < 5


async def test_no_text_is_lost_sent_twice_or_late_whenever_connections_to_the_database_are_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with storm(tmp_path, credits=MESSAGES, seed=20_261_122) as weather:
        _, last_cut = await asyncio.gather(weather.send(MESSAGES), weather.cut(CUTS, pause=1.0))
        accepted = time.monotonic()
        await weather.settle(PENDING)
        seconds = time.monotonic() - max(last_cut, accepted)
        await weather.settle()
        settled = time.monotonic() - max(last_cut, accepted)

        await weather.check()

    with capsys.disabled():
        sys.stdout.write(
            f"\n{MESSAGES} texts, {weather.cuts} connections lost in {CUTS} cuts, {weather.unavailable} answers 503; "
            f"{seconds:.1f} s after the last cut all had left, after {settled:.1f} s all were reported on\n"
        )
    assert weather.cuts >= CUTS
    assert seconds < 10

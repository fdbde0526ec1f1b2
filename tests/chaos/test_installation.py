"""Every process of an installation is killed while it is used: its parent, its web process, worker and databases."""

import asyncio
import statistics
import sys
from pathlib import Path

import pytest

from tests.chaos.installation import installation

pytestmark = pytest.mark.anyio

ROUNDS = 50


async def test_no_text_is_lost_or_doubled_and_the_service_goes_on_within_10_seconds_whatever_is_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with installation(tmp_path, seed=20_261_123) as service:
        await asyncio.gather(service.use(), service.kill(ROUNDS))

        await service.check()

    seconds, slowest = max(service.outages)
    usual = statistics.median(each for each, _ in service.outages)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{len(service.answers) + service.refused.total()} texts, {ROUNDS} kills; a text was handed off again "
            f"after {usual:.1f} s, and after {seconds:.1f} s at most: {slowest}\n"
        )
    assert len(service.outages) == ROUNDS
    assert seconds < 10, service.outages

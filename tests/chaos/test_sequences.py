"""A drip sequence of 10,000 contacts whose workers are killed."""

from pathlib import Path

import pytest

from tests.chaos.sequences import run_sequence
from tests.chaos.storm import storm

pytestmark = pytest.mark.anyio

PEOPLE, KILLS = 10_000, 10


async def test_each_contact_gets_each_step_once_and_completes_once(tmp_path: Path) -> None:
    async with storm(tmp_path, credits=3 * PEOPLE, seed=20_261_124) as weather:
        await run_sequence(weather, PEOPLE, KILLS, seconds=900)

"""A campaign to 100,000 contacts whose workers are killed, canceled once in the middle."""

import asyncio
import sys
import time
from pathlib import Path

import pytest

from tests.chaos.campaigns import CANCEL, ask, await_decided, begin, end
from tests.chaos.storm import storm

pytestmark = pytest.mark.anyio

PEOPLE, MIDDLE, KILLS = 100_000, 20_000, 10


async def test_each_recipient_of_a_canceled_campaign_gets_one_text_or_none_and_pays_for_it_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with storm(tmp_path, credits=PEOPLE, seed=20_261_123) as weather:
        begun = time.monotonic()
        campaign_id = await begin(weather, PEOPLE)
        await asyncio.gather(await_decided(weather, MIDDLE), weather.kill(KILLS, pause=2.0))
        canceled = await ask(weather, CANCEL, id=campaign_id)
        sent = await end(weather, PEOPLE, seconds=900)
        seconds = time.monotonic() - begun

    with capsys.disabled():
        sys.stdout.write(
            f"\n{PEOPLE} recipients, {KILLS} kills, canceled with {canceled['left']} texts away and"
            f" {canceled['in_flight']} in flight: {sent.states}, {sent.calls} calls, {sent.credits} credits in"
            f" {seconds:.0f} s\n"
        )
    assert sent.states.keys() <= {"delivered", "canceled"}
    assert sent.states["canceled"] > 0
    assert sent.states["delivered"] == sent.calls == sent.credits

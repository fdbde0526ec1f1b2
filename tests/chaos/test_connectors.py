"""Twenty kills of web and worker amid an exchange with a CRM and a scheduling tool."""

import sys
from pathlib import Path

import pytest

from tests.chaos.connectors import exchange

pytestmark = pytest.mark.anyio

KILLS = 20


async def test_no_record_is_lost_and_no_text_leaves_twice_whatever_is_killed_amid_an_exchange(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with exchange(tmp_path, seed=20_261_124) as exchanged:
        await exchanged.run(*(("web", "worker") * (KILLS // 2)))
        seconds = await exchanged.settle()

        await exchanged.check()

    counted = len(exchanged.asked), len(exchanged.said), len(exchanged.booked), exchanged.edits
    with capsys.disabled():
        sys.stdout.write(
            "\n{} texts of the CRM, {} inbound texts, {} appointments, {} renamed contacts, ".format(*counted)
        )
        sys.stdout.write(f"{KILLS} kills; settled {seconds:.1f} s after the last\n")

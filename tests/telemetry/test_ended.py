"""Figures of processes that have ended take no more room than those of one."""

from pathlib import Path

import orjson
import pytest
from prometheus_client.mmap_dict import MmapedDict

from app.telemetry.ended_processes import folded
from app.telemetry.metrics import render

pytestmark = pytest.mark.anyio

NO_PID = 4_194_304
"""The first number that no process of Linux can have."""

SENT = orjson.dumps(["messaging_sends", "messaging_sends_total", {"result": "sent"}, "Messages."]).decode()
BUCKET = orjson.dumps(["messaging_x", "messaging_x_bucket", {"le": "1.0"}, "Seconds."]).decode()
UNDER_WAY = orjson.dumps(["messaging_y", "messaging_y", {}, "Under way."]).decode()


def leave(folder: Path, pid: int) -> None:
    """Leave what a process leaves that has counted: three texts sent, two waits, and one thing under way."""
    for name, key, value in [("counter", SENT, 3), ("histogram", BUCKET, 2), ("gauge_livesum", UNDER_WAY, 1)]:
        file = MmapedDict(str(folder / f"{name}_{pid}.db"))
        file.write_value(key, value, 0)
        file.close()


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.db"))


async def test_a_process_that_starts_again_and_again_leaves_two_files_and_every_count(tmp_path: Path) -> None:
    for number in range(100):
        leave(tmp_path, NO_PID + number)
        with folded(tmp_path):
            pass

    assert files(tmp_path) == ["counter_ended.db", "histogram_ended.db"]
    text = (await render(folder=str(tmp_path))).decode()
    assert 'messaging_sends_total{result="sent"} 300.0\n' in text
    assert 'messaging_x_bucket{le="1.0"} 200.0\n' in text
    assert "messaging_y" not in text


async def test_figures_that_are_told_are_folded_first(tmp_path: Path) -> None:
    for number in range(3):
        leave(tmp_path, NO_PID + number)

    texts = [await render(folder=str(tmp_path)) for _ in range(2)]

    assert files(tmp_path) == ["counter_ended.db", "histogram_ended.db"]
    assert [b'messaging_sends_total{result="sent"} 9.0\n' in text for text in texts] == [True, True]


def test_the_files_of_a_running_process_are_not_folded(tmp_path: Path) -> None:
    leave(tmp_path, 1)

    with folded(tmp_path):
        pass

    assert files(tmp_path) == ["counter_1.db", "gauge_livesum_1.db", "histogram_1.db"]

"""Lanes: how often a process runs a job at once."""

import asyncio

import pytest
from structlog.testing import capture_logs

from app.jobs.job import Job, Runner
from tests.waiting import until, within

pytestmark = pytest.mark.anyio


class Gate:
    """A job whose batches wait until they are let through."""

    def __init__(self) -> None:
        self.entered = 0
        self.finished = 0
        self.opened = asyncio.Event()

    async def run(self) -> bool:
        """Wait for the gate."""
        self.entered += 1
        await within("the gate to open", self.opened.wait())
        self.finished += 1
        return False

    async def due(self) -> bool:
        """Tell that nothing is due."""
        return False


async def test_a_thousand_rings_run_two_batches_at_once_and_one_more_after_them() -> None:
    gate = Gate()
    runner = Runner(Job("gate", gate.run, gate.due))
    for _ in range(1000):
        runner.start()
        await asyncio.sleep(0)
    entered_while_closed = gate.entered

    gate.opened.set()

    await until(lambda: gate.finished == 3)
    await runner.stop(10)
    assert entered_while_closed == 2
    assert gate.entered == 3


async def test_a_job_runs_until_nothing_is_due() -> None:
    left = [True, True, False]

    async def run() -> bool:
        return left.pop(0)

    runner = Runner(Job("count", run, Gate().due))

    runner.start()

    await until(lambda: not left)
    await runner.stop(10)


async def test_a_failed_batch_is_logged_with_its_bell_and_frees_its_lane() -> None:
    async def run() -> bool:
        raise ValueError("broken")

    runner = Runner(Job("broken", run, Gate().due))

    with capture_logs() as logs:
        for count in range(1, 6):
            runner.start()
            await until(lambda count=count: len(logs) == count)

    assert [(entry["log_level"], entry["event"], entry["topic"]) for entry in logs] == [
        ("error", "job_failed", "broken")
    ] * 5


async def test_stopping_finishes_the_batch_in_hand_and_starts_no_other() -> None:
    finished = 0

    async def run() -> bool:
        nonlocal finished
        await asyncio.sleep(0.05)
        finished += 1
        return True

    runner = Runner(Job("endless", run, Gate().due))
    runner.start()
    await asyncio.sleep(0)

    await runner.stop(10)
    runner.start()
    await asyncio.sleep(0.1)

    assert finished == 1


async def test_stopping_cuts_short_a_batch_that_outlasts_the_grace() -> None:
    gate = Gate()
    runner = Runner(Job("gate", gate.run, gate.due))
    runner.start()
    await until(lambda: gate.entered == 1)

    with capture_logs() as logs:
        await runner.stop(0.01)

    assert [(entry["event"], entry["topic"]) for entry in logs] == [("batch_canceled", "gate")]
    assert gate.finished == 0

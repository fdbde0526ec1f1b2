"""Due work is done without a notification."""

import asyncio
from contextlib import suppress

import pytest
from structlog.testing import capture_logs

from app.jobs.job import Job, Runner
from app.jobs.poller import tick
from tests.jobs.samples import Ledger
from tests.waiting import until

pytestmark = pytest.mark.anyio


async def test_the_poller_does_due_work(ledger: Ledger) -> None:
    clock = asyncio.create_task(tick([Runner(ledger.job(every=0.01))]))
    ledger.add(25)

    await until(lambda: ledger.count("done = 1") == 25)

    await _stop(clock)


async def test_a_job_that_cannot_tell_is_logged_once_and_holds_up_no_other(ledger: Ledger) -> None:
    asked = 0

    async def due() -> bool:
        nonlocal asked
        asked += 1
        raise ConnectionError("no database")

    broken = Job("broken", ledger.job(every=1).run, due, every=0.01)
    with capture_logs() as logs:
        clock = asyncio.create_task(tick([Runner(broken), Runner(ledger.job(every=0.01))]))
        ledger.add(1)

        await until(lambda: asked >= 3 and ledger.count("done = 1") == 1)

        await _stop(clock)
    assert [(entry["event"], entry["topic"]) for entry in logs] == [("poll_failed", "broken")]


async def _stop(clock: asyncio.Task[None]) -> None:
    clock.cancel()
    with suppress(asyncio.CancelledError):
        await clock

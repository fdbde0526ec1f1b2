"""Polls each job's `due()`, so that work is found when a notification is lost."""

import asyncio
from collections.abc import Iterable

import structlog

from app.jobs.job import Runner
from app.telemetry.logs import Throttle

log = structlog.get_logger(__name__)


async def tick(runners: Iterable[Runner]) -> None:
    """Ask each job at its interval whether work is due, and run it here if so, until cancelled.

    It needs no Redis: while Redis is unreachable, work starts up to a second later.
    """
    async with asyncio.TaskGroup() as polls:
        for runner in runners:
            polls.create_task(_poll(runner))


async def _poll(runner: Runner) -> None:
    warnings = Throttle()
    while True:
        try:
            if await runner.job.due():
                runner.start()
        except Exception:
            if warnings.passes():
                log.exception("poll_failed", topic=runner.job.topic)
        await asyncio.sleep(runner.job.every)

"""The clock: what the notifier loses, it finds."""

import asyncio
from collections.abc import Iterable

import structlog

from app.jobs.job import Runner
from app.telemetry.logs import Throttle

log = structlog.get_logger(__name__)


async def tick(runners: Iterable[Runner]) -> None:
    """Ask each job at its interval whether work is due, and run it here if so, until cancelled.

    It does not ring: while Redis is away, the service is slower by a second and otherwise whole.
    """
    async with asyncio.TaskGroup() as watches:
        for runner in runners:
            watches.create_task(_watch(runner))


async def _watch(runner: Runner) -> None:
    warnings = Throttle()
    while True:
        try:
            if await runner.job.due():
                runner.start()
        except Exception:
            if warnings.passes():
                log.exception("the clock cannot tell whether work is due", topic=runner.job.topic)
        await asyncio.sleep(runner.job.every)

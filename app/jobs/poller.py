"""Polls each job's `due()`, so that work is found when a notification is lost."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence

import structlog

from app.jobs.job import Runner
from app.telemetry.logs import Throttle

log = structlog.get_logger(__name__)


async def tick(runners: Iterable[Runner]) -> None:
    """Ask each job at its interval whether work is due, and run it here if so, until cancelled.

    It needs no Redis: while Redis is unreachable, work starts up to a second later. Jobs with the same interval are
    asked at the same time, so that the database answers them together (`Pool.ask`).
    """
    groups: dict[float, list[Runner]] = defaultdict(list)
    for runner in runners:
        groups[runner.job.every].append(runner)
    async with asyncio.TaskGroup() as polls:
        for every, group in groups.items():
            polls.create_task(_poll(group, every))


async def _poll(runners: Sequence[Runner], every: float) -> None:
    warnings = [Throttle() for _ in runners]
    while True:
        await asyncio.gather(*map(_start_if_due, runners, warnings))
        await asyncio.sleep(every)


async def _start_if_due(runner: Runner, warnings: Throttle) -> None:
    try:
        if await runner.job.due():
            runner.start()
    except Exception:
        if warnings.passes():
            log.exception("poll_failed", topic=runner.job.topic)

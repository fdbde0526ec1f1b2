"""A job: work whose rows stand in the database, and the lanes in which a process does it."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from app.telemetry.metrics import JOB_RUNS, JOB_SECONDS

SLOTS = 2

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    """Work of one kind: `run` does one batch and tells whether more may be due, `due` asks cheaply whether any is.

    The clock asks each `every` seconds. Both are called at any time, in several lanes and processes at once, and
    without need: `run` claims its rows. A batch that raises is logged, and its work is tried again when the clock
    next finds it due. `finish` ends what a batch has left running, when the worker stops.
    """

    topic: str
    run: Callable[[], Awaitable[bool]]
    due: Callable[[], Awaitable[bool]]
    every: float = 1.0
    finish: Callable[[], Awaitable[None]] | None = None


class Runner:
    """Runs a job in at most `LANES` lanes of this process, however often it is asked to."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._lanes: set[asyncio.Task[None] | None] = set()
        self._asked_again = False
        self._stopping = False

    def start(self) -> None:
        """Run batches until none is due; while all lanes are busy, have one of them look once more. Never waits."""
        if self._stopping:
            return
        if len(self._lanes) == SLOTS:
            self._asked_again = True
        else:
            self._lanes.add(asyncio.get_running_loop().create_task(self._run()))

    async def stop(self, grace: float) -> None:
        """Start no batch from now on; wait for those in hand, and cancel what takes more than `grace` seconds."""
        self._stopping = True
        lanes = {lane for lane in self._lanes if lane}
        if self.job.finish:
            lanes.add(asyncio.ensure_future(self.job.finish()))
        if not lanes:
            return
        _, late = await asyncio.wait(lanes, timeout=grace)
        for lane in late:
            log.warning("batch cut short by the shutdown", topic=self.job.topic)
            lane.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    async def _run(self) -> None:
        try:
            more = True
            while more and not self._stopping:
                self._asked_again = False
                more = await self._batch() or self._asked_again
        finally:
            self._lanes.discard(asyncio.current_task())

    async def _batch(self) -> bool:
        topic = self.job.topic
        started = time.perf_counter()
        try:
            more = await self.job.run()
        except Exception:
            log.exception("job failed", topic=topic)
            JOB_RUNS.labels(topic, "failed").inc()
            return False
        JOB_RUNS.labels(topic, "done").inc()
        JOB_SECONDS.labels(topic).observe(time.perf_counter() - started)
        return more

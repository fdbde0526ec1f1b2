"""Jobs, and the slots in which a process runs their batches."""

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
    """Work of one kind: `run` does one batch and returns whether more may be due, `due` checks cheaply for due work.

    The poller calls `due` each `every` seconds. Both may be called at any time, in several slots and processes at
    once, and when nothing is due: `run` claims its rows. A batch that raises is logged, and its work is tried again
    when the poller next finds it due. `finish` ends the work that batches have left running, when the worker stops.
    `watch` is given a function that starts the job again, for work that this process could not take before.
    """

    topic: str
    run: Callable[[], Awaitable[bool]]
    due: Callable[[], Awaitable[bool]]
    every: float = 1.0
    finish: Callable[[], Awaitable[None]] | None = None
    watch: Callable[[Callable[[], None]], None] | None = None


class Runner:
    """Runs a job in at most `SLOTS` slots of this process, however often it is started."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._slots: set[asyncio.Task[None] | None] = set()
        self._asked_again = False
        self._stopping = False
        if job.watch:
            job.watch(self.start)

    @property
    def is_busy(self) -> bool:
        """Return whether it has no free slot, or starts no more batches."""
        return self._stopping or len(self._slots) == SLOTS

    def start(self) -> None:
        """Run batches until none is due; while all slots are busy, one of them runs once more. Never waits."""
        if self._stopping:
            return
        if len(self._slots) == SLOTS:
            self._asked_again = True
        else:
            self._slots.add(asyncio.get_running_loop().create_task(self._run()))

    async def stop(self, grace: float) -> None:
        """Start no more batches; wait for those that run, and cancel those that take more than `grace` seconds."""
        self._stopping = True
        slots = {slot for slot in self._slots if slot}
        if self.job.finish:
            slots.add(asyncio.ensure_future(self.job.finish()))
        if not slots:
            return
        _, late = await asyncio.wait(slots, timeout=grace)
        for slot in late:
            log.warning("batch_canceled", topic=self.job.topic)
            slot.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    async def _run(self) -> None:
        try:
            more = True
            while more and not self._stopping:
                self._asked_again = False
                more = await self._batch() or self._asked_again
        finally:
            self._slots.discard(asyncio.current_task())

    async def _batch(self) -> bool:
        topic = self.job.topic
        started = time.perf_counter()
        try:
            more = await self.job.run()
        except Exception:
            log.exception("job_failed", topic=topic)
            JOB_RUNS.labels(topic, "failed").inc()
            return False
        JOB_RUNS.labels(topic, "done").inc()
        JOB_SECONDS.labels(topic).observe(time.perf_counter() - started)
        return more

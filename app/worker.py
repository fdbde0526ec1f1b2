"""The worker process: runs jobs when their topic is notified or the poller finds them due."""

import asyncio
import signal
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress

import structlog
import uvloop

from app import gc
from app.jobs.broker import NotificationConsumer, disconnect, make_broker
from app.jobs.job import Job, Runner
from app.jobs.notifier import URGENT, Notifier
from app.jobs.poller import tick
from app.jobs.wakes import Wakes

STOP_SECONDS = 5.0
BATCH_SHARE = 0.8

Build = Callable[[Notifier], AbstractAsyncContextManager[Sequence[Job]]]
"""Opens the connections of the jobs, gives the jobs, and disconnects when the worker has stopped, the notifier too."""

log = structlog.get_logger(__name__)


class Worker:
    """Runs jobs on the event loop that starts it, together with the connections they use."""

    def __init__(self, redis_url: str, build: Build) -> None:
        self._redis_url = redis_url
        self._build = build
        self._resources = AsyncExitStack()

    async def start(self) -> None:
        """Build the jobs, consume their topics and start the poller."""
        notifier = Notifier(self._redis_url)
        jobs = await self._resources.enter_async_context(self._build(notifier))
        self._runners = [Runner(job) for job in jobs]
        notifier.serve(self._runners)
        self._broker = make_broker(self._redis_url, self._runners)
        self._consumer = NotificationConsumer(self._broker)
        self._consumer.start()
        self._urgent = {runner.job.topic: runner for runner in self._runners if runner.job.topic in URGENT}
        self._wakes = Wakes(self._redis_url, self._wake)
        self._background = [asyncio.create_task(tick(self._runners)), asyncio.create_task(self._wakes.run())]
        log.info("worker_started", topics=[job.topic for job in jobs])

    async def stop(self, grace: float = STOP_SECONDS) -> None:
        """Take no more work, finish the running batches and disconnect, within `grace` seconds."""
        for task in self._background:
            task.cancel()
        await asyncio.gather(
            asyncio.wait(self._background, timeout=grace * BATCH_SHARE),
            asyncio.to_thread(disconnect, self._consumer, self._broker),
            *(runner.stop(grace * BATCH_SHARE) for runner in self._runners),
        )
        with suppress(TimeoutError):
            async with asyncio.timeout(grace * (1 - BATCH_SHARE)):
                await self._wakes.close()
                await self._resources.aclose()
        log.info("worker_stopped")

    def _wake(self, topic: str) -> None:
        if runner := self._urgent.get(topic):
            runner.start()


def run(redis_url: str, build: Build) -> None:
    """Run until SIGTERM or SIGINT; then stop as `Worker.stop` does."""
    uvloop.run(_work(Worker(redis_url, build)))


async def _work(worker: Worker) -> None:
    stop_requested = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop_requested.set)
    starting, stopping = asyncio.create_task(worker.start()), asyncio.create_task(stop_requested.wait())
    await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if not starting.done():  # it may wait for the database for a minute
        starting.cancel()
        await asyncio.wait({starting})
        return
    await starting
    gc.settle()
    await stopping
    await worker.stop()

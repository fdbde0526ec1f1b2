"""The process of SMPP connections: binds those whose leases it gets, until it is stopped."""

import asyncio
import signal
from uuid import uuid4

import structlog
import uvloop

from app import gc
from app.bootstrap import open_partitions, open_services
from app.bootstrap.smpp import Binds
from app.db import schema
from app.jobs.job import Runner
from app.jobs.poller import tick
from app.jobs.wakes import Wakes
from app.settings import Settings

STOP_SECONDS = 4.0

log = structlog.get_logger(__name__)


def run(settings: Settings) -> None:
    """Run until SIGTERM or SIGINT; then submit no more, wait for responses, unbind, and give the leases up."""
    uvloop.run(_run(settings))


async def _run(settings: Settings) -> None:
    stop_requested = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop_requested.set)
    waiting = asyncio.create_task(schema.wait_for(settings.database_url or ""))
    stopping = asyncio.create_task(stop_requested.wait())
    await asyncio.wait({waiting, stopping}, return_when=asyncio.FIRST_COMPLETED)
    if not waiting.done():  # it may wait for the database for a minute
        waiting.cancel()
        return
    await waiting
    await serve(settings, stop_requested)


async def serve(settings: Settings, stop_requested: asyncio.Event) -> None:
    """Hold binds until a stop is requested."""
    assert settings.redis_url
    async with open_services(settings) as services:
        binds = Binds(services, uuid4().hex)
        wakes = Wakes(settings.redis_url, binds.wake)
        upkeep = tick([Runner(open_partitions(services))])
        tasks = [asyncio.create_task(each) for each in (binds.run(), wakes.run(), upkeep)]
        gc.settle()
        log.info("smpp_started")
        await stop_requested.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await binds.stop(STOP_SECONDS)
        await wakes.close()
    log.info("smpp_stopped")

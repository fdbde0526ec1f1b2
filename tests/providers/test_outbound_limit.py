"""Time limits of peers."""

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import uvloop

from app.providers.outbound.limit import LOOK_SECONDS, limited
from tests.waiting import never

SHORT = 0.01
LOOPS = pytest.mark.parametrize("run", [asyncio.run, uvloop.run])

Run = Callable[[Awaitable[Any]], Any]


@LOOPS
def test_a_peer_that_takes_too_long_is_given_up(run: Run) -> None:
    async def wait() -> None:
        with pytest.raises(TimeoutError):
            async with limited(SHORT):
                await never()

    run(wait())


@LOOPS
def test_a_peer_that_was_reached_in_time_counts_although_this_process_was_held_up(run: Run) -> None:
    async def connect(port: int) -> str:
        loop = asyncio.get_running_loop()
        async with limited(SHORT):
            loop.call_soon(time.sleep, 3 * SHORT)
            transport, _ = await loop.create_connection(asyncio.Protocol, "127.0.0.1", port)
        transport.close()
        return "connected"

    with socket.create_server(("127.0.0.1", 0)) as server:
        assert run(connect(server.getsockname()[1])) == "connected"


@LOOPS
def test_a_block_that_ends_in_time_is_not_disturbed_later(run: Run) -> None:
    async def wait() -> str:
        async with limited(SHORT):
            pass
        await asyncio.sleep(2 * (SHORT + LOOK_SECONDS))
        return "undisturbed"

    assert run(wait()) == "undisturbed"

"""Starts the implementation of the protocol at its first request, and stops it with the process."""

import asyncio
import importlib
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp

from app.mcp.tools import Tools

MODULE = "app.mcp.server"
"""The module that imports the package `mcp`. It is imported by its name, so that a process starts without it."""


@dataclass(frozen=True, slots=True)
class Protocol:
    """The running implementation: the tools, and the ASGI application that serves them."""

    tools: Tools
    app: ASGIApp


class Running:
    """The implementation's task, which outlives the requests."""

    def __init__(self, open_tools: Callable[[], Tools]) -> None:
        self._open_tools = open_tools
        self._stopping, self._closing = asyncio.Event(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._protocol: asyncio.Future[Protocol] | None = None

    async def get(self) -> Protocol:
        """Return the running implementation, started if necessary."""
        if self._protocol is None or (self._protocol.done() and self._protocol.exception()):
            self._protocol = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._run(self._protocol), context=Context())
        return self._protocol.result() if self._protocol.done() else await asyncio.shield(self._protocol)

    def stop(self) -> None:
        """End the streams: the process stops. Running calls go on, and `close` ends those that are left."""
        self._stopping.set()

    async def close(self) -> None:
        """End all sessions, and wait for their end."""
        self.stop()
        self._closing.set()
        if self._task:
            await asyncio.wait({self._task})

    async def _run(self, started: asyncio.Future[Protocol]) -> None:
        try:
            tools, transport = await asyncio.to_thread(self._load)
            async with transport.run():
                started.set_result(Protocol(tools, transport.serve))
                await self._stopping.wait()
                transport.stop()
                await self._closing.wait()
        except Exception as cause:
            if started.done():
                raise
            started.set_exception(cause)

    def _load(self) -> tuple[Tools, Any]:
        """Import the protocol and compile the tools, in a thread: both take a second."""
        server: Any = importlib.import_module(MODULE)
        tools = self._open_tools()
        return tools, server.open_transport(tools)

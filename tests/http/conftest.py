"""A server of the service's own protocols around a small application, with raw sockets against it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest
import uvicorn

from app.domain.kernel.errors import DomainError
from app.server.connection_limits import BoundedConfig, Limits
from app.server.tls_handshake import protocol_for
from app.server.websocket import BoundedWebSocket
from tests.waiting import never, until

PATIENCE = 20.0
QUICK = Limits(head_seconds=0.5, body_seconds=0.5, stall_seconds=0.5, linger_seconds=0.2)


@dataclass
class Running:
    """A server, and the requests and bodies that reached its application."""

    port: int
    server: uvicorn.Server
    requests: list[tuple[Any, bytes]]
    answer: bytes = b"ok"
    raws: list["Raw"] = field(default_factory=list)
    is_released: bool = False

    async def connect(self, address: str = "127.0.0.1") -> "Raw":
        """Connect from a loopback address."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=2**20, local_addr=(address, 0))
        self.raws.append(Raw(reader, writer))
        return self.raws[-1]

    async def ask(self, data: bytes) -> bytes:
        """Send bytes on a new connection; return the response until the server closes it."""
        raw = await self.connect()
        return await raw.ask(data)

    def connections(self) -> int:
        return len(self.server.server_state.connections)


@dataclass
class Raw:
    """One connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def ask(self, data: bytes) -> bytes:
        self.send(data)
        return await self.rest()

    async def head(self) -> bytes:
        """Return the head of one response."""
        async with asyncio.timeout(PATIENCE):
            return await self.reader.readuntil(b"\r\n\r\n")

    async def rest(self) -> bytes:
        """Return the bytes until the server closes the connection."""
        async with asyncio.timeout(PATIENCE):
            try:
                return await self.reader.read()
            except ConnectionError:
                return b""
            finally:
                self.writer.close()


@asynccontextmanager
async def running(limits: Limits, **options: Any) -> AsyncGenerator[Running]:
    """Serve an application that echoes the body; `/first` answers without reading it, `/slow` after its release."""
    requests: list[tuple[Any, bytes]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            await converse(receive, send)
            return
        body = b""
        while scope["path"] != "/first":
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message["body"]
            if not message["more_body"]:
                break
        requests.append((scope, body))
        if scope["path"] == "/slow":
            await until(lambda: found.is_released)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": found.answer})

    config = BoundedConfig(
        app,
        limits,
        lambda error: (error.status, render(error)),
        http=protocol_for(options.get("ssl_certfile")),
        ws=BoundedWebSocket,
        ws_per_message_deflate=False,
        port=0,
        log_config=None,
        lifespan="off",
        **options,
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    found = Running(server.servers[0].sockets[0].getsockname()[1], server, requests)
    yield found
    found.is_released = True
    for raw in found.raws:
        raw.writer.close()
    server.should_exit = server.force_exit = True
    await serving


async def converse(receive: Any, send: Any) -> None:
    """Echo each text of a WebSocket; after `sleep`, read nothing for a minute."""
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        if message.get("text") == "sleep":
            await never()
        await send({"type": "websocket.send", "text": message.get("text") or ""})


def render(error: DomainError) -> bytes:
    return orjson.dumps({"error_code": error.code, "error": str(error)})


@pytest.fixture
async def quick() -> AsyncGenerator[Running]:
    """Provide a server with short timeouts."""
    async with running(QUICK) as found:
        yield found


@pytest.fixture
async def server() -> AsyncGenerator[Running]:
    """Provide a server with the default limits."""
    async with running(Limits()) as found:
        yield found

"""Local peers that answer posts correctly, wrongly or not at all."""

import asyncio
import socket
import ssl
import struct
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_network

from tests.waiting import within

Answering = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

NETWORKS = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


@dataclass
class Peer:
    """A server that counts its connections and stores the posts."""

    port: int = 0
    connections: int = 0
    requests: list[tuple[str, bytes]] = field(default_factory=list)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        """Return its URL."""
        return f"http://127.0.0.1:{self.port}/hook"

    async def wait_until_ended(self) -> None:
        """Wait until the client has ended a connection."""
        await within("the end of a connection", self.ended.wait())


@asynccontextmanager
async def serve(
    answering: Answering, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None, reads_body: bool = True
) -> AsyncGenerator[Peer]:
    """Serve with a function that is called after each request."""
    peer, tasks = Peer(), set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())
        peer.connections += 1
        try:
            while True:
                peer.requests.append(await read_request(reader, reads_body))
                await answering(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            peer.ended.set()
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(handle, host, 0, ssl=tls)
    peer.port = server.sockets[0].getsockname()[1]
    try:
        yield peer
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def read_request(reader: asyncio.StreamReader, reads_body: bool) -> tuple[str, bytes]:
    """Read one request: its head and, if wanted, its body."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    lengths = [line.partition(":")[2] for line in head.split("\r\n") if line.startswith("content-length:")]
    return head, await reader.readexactly(int(lengths[0]) if reads_body and lengths else 0)


def say(*parts: bytes) -> Answering:
    """Answer with these bytes, and keep the connection."""

    async def answering(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0)

    return answering


def say_and_close(*parts: bytes) -> Answering:
    """Answer with these bytes, and close the connection."""

    async def answering(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await say(*parts)(_, writer)
        writer.close()
        await within("the connection to close", writer.wait_closed())
        raise ConnectionResetError

    return answering


def say_and_reset(part: bytes) -> Answering:
    """Answer with these bytes, and reset the connection."""

    async def answering(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(part)
        await asyncio.sleep(0.05)
        linger = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        raise ConnectionResetError

    return answering


def repeat(part: bytes, start: bytes = b"", pause: float = 0) -> Answering:
    """Answer with the same bytes endlessly."""

    async def answering(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        for _ in range(1_000_000):
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(pause)

    return answering


def then(first: Answering, *later: Answering) -> Answering:
    """Answer each request with the next function; the last one answers all further requests."""
    ways = [first, *later]

    async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await (ways.pop(0) if len(ways) > 1 else ways[0])(reader, writer)

    return answering

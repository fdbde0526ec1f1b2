"""Downloads that are read from a served process, by sockets of their own."""

import asyncio

from tests.graphql.live import Served

END_OF_ANSWER = b"\r\n0\r\n\r\n"


async def begin(served: Served, path: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Ask for a download, and read its head."""
    host, port = served.base_url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port), limit=2**16)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
    return reader, writer


async def rest(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes:
    """Return the rest of a download until its connection ends."""
    try:
        async with asyncio.timeout(50):
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()

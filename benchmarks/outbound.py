"""CPU time of one webhook post over TLS: the service's client compared with aiohttp, in turns in one process.

Run by itself: `.venv/bin/python -m benchmarks.outbound`. The subscriber is a separate process on loopback; only the
CPU time of this process counts. `kept` reuses connections, `new` opens one for each post.
"""

import asyncio
import datetime
import multiprocessing
import ssl
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from ipaddress import IPv4Network
from multiprocessing.connection import Connection
from pathlib import Path
from typing import cast

import aiohttp
import uvloop
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from app.providers.outbound.client import HttpClient

HOST = "localhost"
BODY = b"x" * 600
HEADERS = {"content-type": "application/json", "webhook-id": "msg_1", "webhook-signature": "v1," + "s" * 44}
ROUNDS, POSTING = 7, 32
POSTS = {"kept": 3000, "new": 300}

Post = Callable[[], Awaitable[object]]


class Subscriber(asyncio.Protocol):
    """Answers each request; closes the connection after a request for `/new`."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport."""
        self._transport = cast(asyncio.Transport, transport)
        self._read = b""

    def data_received(self, data: bytes) -> None:
        """Answer a complete request."""
        self._read += data
        if self._read.endswith(BODY):
            closes = b"connection: close\r\n" if self._read.startswith(b"POST /new") else b""
            self._read = b""
            self._transport.write(b"HTTP/1.1 200 OK\r\n" + closes + b"content-length: 2\r\n\r\nok")
            if closes:
                self._transport.close()


def certify(folder: Path) -> Path:
    """Write a key and a self-signed certificate for the subscriber; return the file."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, HOST)])
    now, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now - day, now + day)
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(HOST)]), critical=False)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file = folder / "subscriber.pem"
    file.write_bytes(private + builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    return file


def serve(file: Path, told: Connection) -> None:
    """Run the subscriber and send its port."""

    async def run() -> None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(file)
        server = await asyncio.get_running_loop().create_server(Subscriber, "127.0.0.1", 0, ssl=context)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    uvloop.run(run())


async def measure(post: Post, posts: int) -> float:
    """Return the CPU time of a post in microseconds, with `POSTING` posts in flight."""
    left = iter(range(posts))

    async def go() -> None:
        for _ in left:
            await post()

    begun = time.process_time()
    await asyncio.gather(*(go() for _ in range(POSTING)))
    return 1e6 * (time.process_time() - begun) / posts


async def compare(port: int, trust: ssl.SSLContext) -> None:
    """Print the median and the range of both clients, measured in turns."""

    async def look_up(_: str) -> list[str]:
        return ["127.0.0.1"]

    poster = HttpClient(False, [IPv4Network("127.0.0.0/8")], resolve=look_up, ssl_context=trust)
    connector = aiohttp.TCPConnector(ssl=trust, limit=0)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(15)) as session:

        async def by_service(url: str) -> None:
            reply = await poster.post(url, HEADERS, BODY)
            assert reply.status == 200, reply

        async def by_aiohttp(url: str) -> None:
            async with session.post(url, headers=HEADERS, data=BODY, allow_redirects=False) as answer:
                await answer.read()

        for kind, posts in POSTS.items():
            url = f"https://{HOST}:{port}/{kind}"
            clients: dict[str, Post] = {"service": partial(by_service, url), "aiohttp": partial(by_aiohttp, url)}
            found: dict[str, list[float]] = {name: [] for name in clients}
            for turn in range(ROUNDS + 1):
                for name, post in clients.items():
                    taken = await measure(post, posts)
                    found[name] += [taken] if turn else []
            for name, figures in found.items():
                low, high = min(figures), max(figures)
                print(f"{kind:5} {name:8} {statistics.median(figures):6.0f} us a post ({low:.0f} to {high:.0f})")
    await poster.close()


def main() -> None:
    """Start the subscriber, compare, and end it."""
    with tempfile.TemporaryDirectory() as folder:
        file = certify(Path(folder))
        here, there = multiprocessing.get_context("spawn").Pipe()
        subscriber = multiprocessing.get_context("spawn").Process(target=serve, args=(file, there), daemon=True)
        subscriber.start()
        uvloop.run(compare(here.recv(), ssl.create_default_context(cafile=file)))
        subscriber.terminate()


if __name__ == "__main__":
    main()

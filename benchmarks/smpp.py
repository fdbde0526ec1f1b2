"""Submits to an SMSC of the package `smpp34`, compared with bare frames on the same connection and window.

The floor writes frames that were encoded before, and counts the responses; it reads nothing of them but their lengths.
"""

import asyncio
import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field

from app.domain.carriers.carrier import Accepted, CarrierAccount, OutboundMessage
from app.providers.carriers.smpp import addresses
from app.providers.carriers.smpp.carrier import SmppCarrier, Style
from app.providers.carriers.smpp.link import Link, LinkSettings
from app.providers.carriers.smpp.pdu import Command, Login, Pdu, ShortMessage, encode_bind, encode_message
from app.providers.carriers.smpp.session import Reply, Submitted, Target
from app.providers.carriers.smpp.statuses import Status
from benchmarks.figures import Comparison, Series
from benchmarks.harness import Stage

HOST, LOGIN = "127.0.0.1", Login("messaging", "secret12")
SENDER, RECIPIENT, BODY = "+12025550143", "+14155550100", "Your appointment is confirmed for tomorrow at 3pm."
WINDOWS = (10, 20)
MESSAGES = 5_000


@dataclass(slots=True)
class Figures:
    """The results of the rounds: submits a second, and the CPU time of one in microseconds."""

    rates: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    async def measure(self, submit_all: Callable[[], Awaitable[None]]) -> None:
        """Measure one round of `MESSAGES`."""
        began, cpu = time.perf_counter(), time.process_time()
        await submit_all()
        self.rates.append(MESSAGES / (time.perf_counter() - began))
        self.cpu.append(1e6 * (time.process_time() - cpu) / MESSAGES)


class _Receiver:
    async def receive(self, message: ShortMessage) -> Reply:
        return Reply(Status.ok)

    async def keep_malformed(self, body: bytes, problem: str) -> Reply:
        return Reply(Status.permanent_error)

    def acknowledged(self, tokens: object) -> None:
        pass

    def answered_late(self, tag: object, response: Submitted) -> None:
        pass


class _Bare(asyncio.Protocol):
    """Writes a frame for each response, up to a number of frames."""

    def __init__(self) -> None:
        self._octets = b""
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._left = self._missing = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: asyncio.Transport = transport

    def submit(self, window: int, frame: bytes, count: int) -> None:
        """Write the frames of a window; `ended` is set after `count` responses."""
        self._frame, self._left, self._missing = frame, count - window, count
        self._transport.write(frame * window)

    def data_received(self, data: bytes) -> None:
        octets, place, answered = self._octets + data, 0, 0
        while len(octets) - place >= 16 and len(octets) - place >= (
            length := int.from_bytes(octets[place : place + 4], "big")
        ):
            place += length
            answered += 1
        self._octets = octets[place:]
        self._missing -= answered
        more = min(answered, self._left)
        self._left -= more
        if more > 0:
            self._transport.write(self._frame * more)
        if self._missing <= 0 and not self.ended.done():
            self.ended.set_result(None)


async def measure(_on: Stage, rounds: int) -> list[Comparison]:
    """Submit with windows of 10 and 20."""
    return [row for window in WINDOWS for row in await _compare(window, rounds)]


async def _compare(window: int, rounds: int) -> list[Comparison]:
    carrier, bare = Figures(), Figures()
    with _smsc() as port:
        for _ in range(rounds):
            async with _bound(port, window) as bound:
                await carrier.measure(lambda: _send_all(bound, window))
            await _submit_bare(port, window, bare)
    title = f"smpp, window of {window}"
    return [
        Comparison(title, "/s", Series("submits", carrier.rates), Series("bare frames", bare.rates)),
        Comparison(f"{title}: CPU", "us", Series("a submit", carrier.cpu), Series("a bare frame", bare.cpu)),
    ]


@contextlib.contextmanager
def _smsc() -> Iterator[int]:
    with socket.create_server((HOST, 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen([sys.executable, "-m", "benchmarks.smsc", str(port)], stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        try:
            yield port
        finally:
            process.kill()


@contextlib.asynccontextmanager
async def _bound(port: int, window: int) -> AsyncGenerator[SmppCarrier]:
    is_bound = asyncio.Event()
    carrier = SmppCarrier(LinkSettings("smpp", Target(HOST, port), LOGIN, window), Style(), _check)
    carrier.link = Link(carrier.settings, _Receiver(), is_bound.set)
    running = asyncio.create_task(carrier.link.run())
    await is_bound.wait()
    yield carrier
    running.cancel()
    await carrier.link.stop()


async def _check() -> CarrierAccount:
    raise ConnectionError


async def _send_all(carrier: SmppCarrier, window: int) -> None:
    references = iter(range(1, MESSAGES + 1))

    async def send_some() -> None:
        for reference in references:
            answer = await carrier.send(OutboundMessage(reference, SENDER, RECIPIENT, BODY, 1))
            assert isinstance(answer, Accepted), answer

    await asyncio.gather(*(send_some() for _ in range(window)))


async def _submit_bare(port: int, window: int, into: Figures) -> None:
    transport, protocol = await asyncio.get_running_loop().create_connection(_Bare, HOST, port)
    message = ShortMessage(addresses.encode(SENDER), addresses.encode(RECIPIENT), BODY.encode(), registered_delivery=1)

    async def submit_all(frame: bytes, many: int, count: int) -> None:
        protocol.ended = asyncio.get_running_loop().create_future()
        protocol.submit(many, frame, count)
        await protocol.ended

    await submit_all(Pdu(Command.bind_transceiver, 0, 1, encode_bind(LOGIN)).encode(), 1, 1)
    frame = Pdu(Command.submit_sm, 0, 2, encode_message(message)).encode()
    await into.measure(lambda: submit_all(frame, window, MESSAGES))
    transport.abort()

"""SMSCs that tests bind to: the npm package `smpp`, in a process of its own."""

import asyncio
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from app.providers.carriers.smpp import addresses, text
from app.providers.carriers.smpp.pdu import Login, ShortMessage
from app.providers.carriers.smpp.session import Reply, Submitted
from app.providers.carriers.smpp.statuses import Status
from tests.node import NODE, install, provide
from tests.waiting import block_until, until, within

SOURCES = Path(__file__).with_name("smsc")
LOGIN = Login("messaging", "secret12", "test")
US, THEM = "+12025550143", "+14155550100"
HOST = "127.0.0.1"

Event = dict[str, Any]


def message(body: str = "Hello", reference: int = 1) -> ShortMessage:
    [part] = text.split(body, reference)
    return ShortMessage(addresses.encode(US), addresses.encode(THEM), part.octets, part.data_coding, part.esm_class, 1)


@dataclass
class Inbox:
    """Receives deliveries; `gate` is open unless a test closes it, and `answer` may raise."""

    answer: Callable[[], Status] = lambda: Status.ok
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    received: list[ShortMessage] = field(default_factory=list)
    settled: list[int] = field(default_factory=list)
    late: list[tuple[object, Submitted]] = field(default_factory=list)
    malformed: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.gate.set()

    async def receive(self, message: ShortMessage) -> Reply:
        self.received.append(message)
        await within("the gate", self.gate.wait())
        return Reply(self.answer(), len(self.received))

    async def keep_malformed(self, body: bytes, problem: str) -> Reply:
        self.malformed.append(body)
        return Reply(Status.permanent_error)

    def acknowledged(self, tokens: Sequence[int]) -> None:
        self.settled += tokens

    def answered_late(self, tag: object, response: Submitted) -> None:
        self.late.append((tag, response))


@dataclass
class Smsc:
    """A running SMSC; `events` are those that it has told."""

    process: subprocess.Popen[bytes]
    port: int = 0
    events: list[Event] = field(default_factory=list)
    turn: int = 0

    def command(self, command: str, **facts: Any) -> None:
        """Have the SMSC do something, and wait until it has."""
        assert self.process.stdin
        self.turn += 1
        turn = {"event": "done", "turn": self.turn}
        self.process.stdin.write(orjson.dumps({"command": command, "turn": self.turn, **facts}) + b"\n")
        self.process.stdin.flush()
        block_until(lambda: turn in self.events, every=0.001)

    def answer(self, *statuses: Any) -> None:
        """Set the responses to the next submits: a status, "silent", or "held" to accept at the command "release"."""
        self.command("answer", statuses=statuses)

    def all(self, event: str) -> list[Event]:
        """Return the events of a kind."""
        return [each for each in self.events if each["event"] == event]

    async def await_all(self, event: str, count: int = 1) -> list[Event]:
        """Return the events of a kind once there are `count`."""
        await until(lambda: len(self.all(event)) >= count)
        return self.all(event)

    async def deliver(self, **pdu: Any) -> int:
        """Deliver a message, and return the status of the response."""
        tag = len(self.events) + id(pdu)
        self.command("deliver", pdu=pdu, tag=tag)
        await until(lambda: any(each["tag"] == tag for each in self.all("delivered")))
        return next(each["status"] for each in self.all("delivered") if each["tag"] == tag)

    def read(self) -> None:
        """Collect the events until the process ends."""
        assert self.process.stdout
        for line in self.process.stdout:
            self.events.append(orjson.loads(line))


@contextmanager
def open_smsc(port: int = 0, password: str = LOGIN.password, tls: Sequence[Path] = ()) -> Iterator[Smsc]:
    """Run an SMSC; port 0 takes a free one. A thread collects its events."""
    words = [NODE, _program(), str(port), password, *map(str, tls)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        smsc = Smsc(process)
        reading = threading.Thread(target=smsc.read)
        reading.start()
        try:
            [listening] = block_until(lambda: smsc.all("listening"))
            smsc.port = listening["port"]
            yield smsc
        finally:
            process.kill()
            reading.join()


@cache
def _program() -> Path:
    return provide(SOURCES / "smsc.mjs", install(SOURCES))

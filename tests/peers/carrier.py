"""A simulated carrier: keeps messages, answers hand-offs by script, and posts signed callbacks."""

import asyncio
import itertools
import secrets as random
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any

import orjson

from app.providers.outbound.client import HttpClient
from tests.peers.scripts import FIRST_CALLS, ORDINARY, Answer, Reply, Script, script_of

EVERYWHERE = (ip_network("0.0.0.0/0"), ip_network("::/0"))
TRIES, PAUSE_SECONDS = 5, 0.5
NEVER_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP answer; with `cut` its body is not sent whole."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    cut: bool = False


ODD = {
    Answer.internal_error: Response(500),
    Answer.unavailable: Response(503),
    Answer.cut: Response(200, b'{"sid":', cut=True),
    Answer.nonsense: Response(200, b"<html>"),
}


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request; header names are lower case."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Callback:
    """A signed call of the service."""

    url: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(slots=True)
class Message:
    """An accepted message; `at` is in seconds since 1970."""

    id: str
    from_number: str
    to_number: str
    body: str
    callback_url: str
    status: str = "queued"
    code: int | None = None
    parts: int = 1
    at: float = field(default_factory=time.time)


@dataclass(slots=True)
class Secrets:
    """The credentials that calls are accepted with, and the one that signs callbacks."""

    accepted: set[str]
    signing: str
    is_sha256: bool = False


def answer_json(status: int, value: object, headers: tuple[tuple[bytes, bytes], ...] = ()) -> Response:
    """Return an answer with JSON."""
    return Response(status, orjson.dumps(value), ((b"content-type", b"application/json"), *headers))


class SimulatedCarrier(ABC):
    """What Twilio and Telnyx have in common; `delay` is in seconds and between reports."""

    name: str
    statuses: Mapping[str, str]

    def __init__(self, secrets: Secrets, inbound_url: str, numbers: list[str], delay: float) -> None:
        self.secrets = secrets
        self.inbound_url = inbound_url
        self.numbers = numbers
        self.delay = delay
        self.messages: dict[str, Message] = {}
        self.calls: Counter[str] = Counter()
        self.brought: Counter[str] = Counter()
        self.deleted: list[str] = []
        self.answers: Counter[int] = Counter()
        self._ids = itertools.count(random.randbits(64) << 64)
        self._tasks: set[asyncio.Task[None]] = set()
        self._client = HttpClient(True, EVERYWHERE, 5.0, 15.0)

    @abstractmethod
    async def answer(self, request: Request) -> Response:
        """Answer a call of the API."""

    @abstractmethod
    def accept(self, message: Message) -> Response:
        """Return the answer to an accepted message."""

    @abstractmethod
    def refuse(self, code: int, *, retry_after: int | None = None) -> Response:
        """Return the answer to a refused message."""

    @abstractmethod
    def report(self, message: Message, status: str, code: int | None) -> Callback:
        """Return the callback that reports on a message."""

    @abstractmethod
    def bring(self, id: str, from_number: str, to_number: str, reply: Reply) -> Callback:
        """Return the callback that brings a text of a person."""

    @abstractmethod
    def forge(self, callback: Callback) -> Callback:
        """Return a callback with a wrong signature."""

    @abstractmethod
    def is_reported(self, number: str) -> bool:
        """Tell whether the error code in a number is one of reports, and not one of refusals."""

    @abstractmethod
    def new_id(self, number: int) -> str:
        """Return the id of a message."""

    limit_code: int

    async def take(self, handed: Message) -> Response:
        """Answer a hand-off by the script of its recipient."""
        script = script_of(handed.to_number, self.is_reported(handed.to_number))
        self.calls[handed.callback_url] += 1
        calls = self.calls[handed.callback_url]
        if script.answer is Answer.limited and calls <= FIRST_CALLS:
            return self.refuse(self.limit_code, retry_after=1)
        if not script.accepted and script.code is None and calls > 1:
            script = ORDINARY
        if script.accepted:
            self.messages[handed.id] = handed
            reporting = self._play(handed, script)
            if script.early:
                await reporting
            else:
                self._start(reporting)
        return await self._answer_by(script, handed)

    async def inbound(self, said: dict[str, Any]) -> None:
        """Have a person write a text."""
        reply = Reply(said["text"], said.get("keyword", ""), tuple(said.get("media", ())), said.get("times", 1))
        await self._bring(said["from"], said["to"], reply)

    def next_id(self) -> str:
        """Return the id of the next message, which no other start of the simulator gives."""
        return self.new_id(next(self._ids))

    async def _answer_by(self, script: Script, message: Message) -> Response:
        if script.answer is Answer.none:
            await asyncio.sleep(NEVER_SECONDS)
        if script.answer in ODD:
            return ODD[script.answer]
        return self.accept(message) if script.accepted else self.refuse(script.code or 0)

    def _start(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _play(self, message: Message, script: Script) -> None:
        await asyncio.sleep(script.wait)
        if script.forged:
            await self._post(self.forge(self.report(message, self.statuses["failed"], 1)), tries=1)
        for report in script.reports:
            if not script.early:
                await asyncio.sleep(self.delay)
            message.status = self.statuses[report]
            message.code = script.code if report == "failed" else None
            callback = self.report(message, message.status, message.code)
            for _ in range(script.times):
                await self._post(callback)
        if script.reply:
            await self._bring(message.to_number, message.from_number, script.reply)

    async def _bring(self, from_number: str, to_number: str, reply: Reply) -> None:
        callback = self.bring(self.next_id(), from_number, to_number, reply)
        for _ in range(reply.times):
            await self._post(callback)
            self.brought[from_number] += 1

    async def _post(self, callback: Callback, tries: int = TRIES) -> None:
        """Post a callback, again where the service is unreachable or answers 5xx."""
        for _ in range(tries):
            reply = await self._client.post(callback.url, callback.headers, callback.body)
            self.answers[reply.status or 0] += 1
            if reply.status is not None and reply.status < 500:
                return
            await asyncio.sleep(PAUSE_SECONDS)

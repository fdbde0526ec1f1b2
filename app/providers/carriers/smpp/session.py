"""One bound connection to an SMSC: the window, response timers, keep-alive, and answers to deliveries of the SMSC."""

import asyncio
import ssl
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple, Protocol, cast

import structlog

from app.domain.kernel.time_limit import TimeLimit
from app.providers.carriers.smpp import pdu
from app.providers.carriers.smpp.pdu import Command, Frames, Login, LostFraming, MalformedPdu, Pdu, ShortMessage
from app.providers.carriers.smpp.statuses import Status, describe

MOST_DELIVERIES = 64
"""Deliveries that are processed at once; the SMSC gets the status to deliver more of them later."""

LAST_SEQUENCE = 0x7FFFFFFF
"""The greatest sequence number of a request; the next one is 1 again."""

MOST_LATE = 1_000
"""Submits that are kept for a late response."""

log = structlog.get_logger(__name__)


class BindRefused(Exception):
    """The SMSC refused to bind; the text names its status."""

    def __init__(self, status: int) -> None:
        super().__init__(f"the SMSC refused the bind: {describe(status)}")
        self.status = status


class NotSubmitted(Exception):
    """The submit was not written to the connection, so the SMSC certainly does not have the message."""


class Unanswered(Exception):
    """The submit got no response in time, or the connection was lost first: the SMSC may have the message."""


@dataclass(frozen=True, slots=True)
class Submitted:
    """The response to a submit; `message_id` is empty after a refusal."""

    status: int
    message_id: str


@dataclass(frozen=True, slots=True)
class Timers:
    """Seconds: to connect and bind, until a response, and between two requests that show that the SMSC is alive."""

    connect: float = 10.0
    response: float = 10.0
    enquire: float = 30.0


USUAL = Timers()


@dataclass(frozen=True, slots=True)
class Target:
    """The address of an SMSC; with `tls`, its certificate is checked against `host`."""

    host: str
    port: int
    tls: ssl.SSLContext | None = None


class Reply(NamedTuple):
    """The response to a delivery; `token` is given back when the SMSC certainly has the response."""

    status: Status
    token: int | None = None


class Receiver(Protocol):
    """Processes deliveries of an SMSC. A delivery is answered when `receive` returns, so it is committed by then."""

    async def receive(self, message: ShortMessage) -> Reply:
        """Process a delivery and return its response; after an exception the SMSC delivers it again."""
        ...

    async def keep_malformed(self, body: bytes, problem: str) -> Reply:
        """Keep the body of a delivery that cannot be read, and return the response."""
        ...

    def acknowledged(self, tokens: Sequence[int]) -> None:
        """Learn that the SMSC certainly has the responses to deliveries, so that it does not deliver them again."""
        ...

    def answered_late(self, tag: object, response: Submitted) -> None:
        """Learn of the response to a submit that was given up before, by the tag of the submit."""
        ...


@dataclass(slots=True)
class _Request:
    """A request without a response yet, and the deliveries that were answered before it was written."""

    response: asyncio.Future[Pdu]
    answered: list[int]


class Session(asyncio.Protocol):
    """A session with an SMSC, from its connection to its end; `ended` is its reason once it has ended.

    At most `window` submits are without a response at any time.
    """

    def __init__(self, window: int, timers: Timers, receiver: Receiver) -> None:
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._window = asyncio.Semaphore(window)
        self._timers = timers
        self._receiver = receiver
        self._responses = TimeLimit(timers.response)
        self._frames = Frames()
        self._sequence = 0
        self._requests: dict[int, _Request] = {}
        self._late: OrderedDict[int, object] = OrderedDict()
        self._answered: list[int] = []
        self._deliveries: set[asyncio.Task[None]] = set()
        self._is_bound = False
        self._alive: asyncio.Task[None] | None = None
        self._heard = 0.0

    @property
    def is_bound(self) -> bool:
        """Return whether messages can be submitted."""
        return self._is_bound and not self.ended.done()

    async def bind(self, login: Login) -> None:
        """Bind as a transceiver; raise `BindRefused`, or `ConnectionError` without a response."""
        try:
            response = await self._request(Command.bind_transceiver, pdu.encode_bind(login))
        except Unanswered as error:
            raise ConnectionError(str(error)) from None
        if response.status != Status.ok:
            raise BindRefused(response.status)
        self._alive = asyncio.create_task(self._keep_alive())

    async def submit(self, message: ShortMessage, tag: object = None, patience: float = 5.0) -> Submitted:
        """Submit a message once the window has room; raise `NotSubmitted` after `patience` seconds, or `Unanswered`."""
        try:
            async with asyncio.timeout(patience if self._window.locked() else None):
                await self._window.acquire()
        except TimeoutError:
            raise NotSubmitted("the window is full") from None
        try:
            if not self.is_bound:
                raise NotSubmitted("the connection is not bound")
            return _read(await self._request(Command.submit_sm, pdu.encode_message(message), tag))
        finally:
            self._window.release()

    async def unbind(self, grace: float) -> None:
        """Submit no more, wait `grace` seconds for responses and deliveries, unbind and disconnect."""
        self._is_bound = False
        with suppress(TimeoutError):
            async with asyncio.timeout(grace):
                if running := {each.response for each in self._requests.values()} | self._deliveries:
                    await asyncio.wait(running)  # a timeout of gather would cancel the requests
                with suppress(Unanswered):
                    await self._request(Command.unbind)
        for delivery in self._deliveries:
            delivery.cancel()
        self.end("unbound")

    def end(self, reason: str) -> None:
        """Disconnect at once. Submits without a response end with `Unanswered`."""
        if self.ended.done():
            return
        self.ended.set_result(reason)
        self._transport.abort()
        if self._alive:
            self._alive.cancel()
        for request in self._requests.values():
            if not request.response.done():
                request.response.set_exception(Unanswered(reason))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to read."""
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is none by inheritance

    def connection_lost(self, exc: Exception | None) -> None:
        """End the session."""
        self.end(str(exc) if exc else "the SMSC disconnected")

    def pause_writing(self) -> None:
        """Read nothing while the SMSC reads nothing, so that no responses pile up."""
        self._transport.pause_reading()

    def resume_writing(self) -> None:
        """Read again."""
        if not self.ended.done():
            self._transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        """Process the PDUs that are complete."""
        try:
            for each in self._frames.feed(data):
                if self.ended.done():
                    return
                self._process(each)
        except LostFraming as error:
            self._answer(Command.generic_nack, Status.invalid_length, 0)
            self.end(str(error))
        except Exception as error:  # a defect of ours ends the session, never silently
            log.exception("smpp_session_failed")
            self.end(repr(error))

    def _process(self, received: Pdu) -> None:
        if received.is_response:
            self._settle(received)
            return
        match received.command:
            case Command.deliver_sm:
                self._deliver(received)
            case Command.enquire_link:
                self._answer(received.command | pdu.RESPONSE, Status.ok, received.sequence)
            case Command.unbind:
                self._answer(received.command | pdu.RESPONSE, Status.ok, received.sequence)
                self.end("the SMSC unbound")
            case _:
                self._answer(Command.generic_nack, Status.invalid_command, received.sequence)

    def _settle(self, response: Pdu) -> None:
        """Give a response to its request; one without a waiting request is late or unknown."""
        self._heard = asyncio.get_running_loop().time()
        request = self._requests.pop(response.sequence, None)
        if request is None:
            self._settle_late(response)
            return
        if response.command == Command.bind_transceiver | pdu.RESPONSE:
            self._is_bound = response.status == Status.ok
        if not request.response.done():
            request.response.set_result(response)
        if request.answered:
            self._receiver.acknowledged(request.answered)

    def _settle_late(self, response: Pdu) -> None:
        tag = self._late.pop(response.sequence, None)
        if tag is not None:
            self._receiver.answered_late(tag, _read(response))

    def _deliver(self, delivery: Pdu) -> None:
        if not self.is_bound or len(self._deliveries) >= MOST_DELIVERIES:
            self._answer_delivery(Status.temporary_error, delivery.sequence)
            return
        task = asyncio.create_task(self._process_delivery(delivery))
        self._deliveries.add(task)
        task.add_done_callback(self._deliveries.discard)

    async def _process_delivery(self, delivery: Pdu) -> None:
        try:
            reply = await self._receive(delivery.body)
        except Exception:
            log.exception("smpp_delivery_failed")
            reply = Reply(Status.temporary_error)
        self._answer_delivery(reply.status, delivery.sequence)
        if reply.token is not None:
            self._answered.append(reply.token)

    async def _receive(self, body: bytes) -> Reply:
        try:
            message = pdu.decode_message(body)
        except MalformedPdu as error:
            log.warning("smpp_delivery_malformed", error=str(error))
            return await self._receiver.keep_malformed(body, str(error))
        return await self._receiver.receive(message)

    def _answer_delivery(self, status: Status, sequence: int) -> None:
        self._answer(Command.deliver_sm | pdu.RESPONSE, status, sequence, b"\0")

    def _answer(self, command: int, status: Status, sequence: int, body: bytes = b"") -> None:
        if not self.ended.done():
            self._transport.write(Pdu(command, status, sequence, body).encode())

    async def _request(self, command: Command, body: bytes = b"", tag: object = None) -> Pdu:
        """Write a request and return its response; raise `Unanswered`."""
        if self.ended.done():
            raise Unanswered(self.ended.result())
        self._sequence = sequence = self._sequence % LAST_SEQUENCE + 1
        request = _Request(asyncio.get_running_loop().create_future(), self._answered)
        self._answered = []
        self._requests[sequence] = request
        self._transport.write(Pdu(command, Status.ok, sequence, body).encode())
        try:
            return await self._responses.run(request.response)
        except TimeoutError:
            raise Unanswered("no response in time") from None
        finally:
            if self._requests.pop(sequence, None):
                self._give_up(sequence, request, tag)

    def _give_up(self, sequence: int, request: _Request, tag: object) -> None:
        """Keep the facts of an unanswered request, for a late response and for the next request."""
        self._answered = request.answered + self._answered
        if tag is not None:
            self._late[sequence] = tag
            if len(self._late) > MOST_LATE:
                self._late.popitem(last=False)

    async def _keep_alive(self) -> None:
        """Send `enquire_link` when the SMSC has answered nothing for a while; without a response, end the session."""
        loop, enquire = asyncio.get_running_loop(), self._timers.enquire
        while True:
            await asyncio.sleep(enquire)
            if not self._answered and loop.time() < self._heard + enquire:
                continue
            try:
                await self._request(Command.enquire_link)
            except Unanswered as error:
                self.end(f"the SMSC did not answer enquire_link: {error}")
                return


async def open_session(target: Target, login: Login, session: Callable[[], Session], seconds: float) -> Session:
    """Connect and bind within a time; raise `BindRefused`, or `OSError` for an SMSC that cannot be reached."""
    opened: Session | None = None
    name = target.host if target.tls else None
    try:
        async with asyncio.timeout(seconds):
            loop = asyncio.get_running_loop()
            _, opened = await loop.create_connection(
                session, target.host, target.port, ssl=target.tls, server_hostname=name
            )
            await opened.bind(login)
    except BaseException as error:
        if opened:
            opened.end("not bound")
        if isinstance(error, TimeoutError):
            raise ConnectionError(f"no bind within {seconds:g} seconds") from None
        raise
    return opened


def _read(response: Pdu) -> Submitted:
    """Return the result in a response to a submit; one that cannot be read was accepted without an id."""
    try:
        return Submitted(response.status, pdu.decode_message_id(response.body))
    except MalformedPdu:
        return Submitted(response.status, "")

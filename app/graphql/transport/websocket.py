"""Operations over a WebSocket: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md."""

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from contextlib import aclosing, suppress
from typing import Any, NoReturn

import orjson
from starlette.websockets import WebSocket, WebSocketDisconnect

from app.domain.kernel.errors import DomainError, InvalidJson, Unauthenticated
from app.domain.kernel.unit_of_work import Actor
from app.graphql.execution.errors import QueryTooComplex
from app.graphql.execution.parameters import Parameters
from app.graphql.transport.requests import parse
from app.graphql.transport.streams import Refused, Streams
from app.http.client_address import address_of
from app.http.errors import translate
from app.http.identity import Identify
from app.http.sessions import Origin
from app.http.websockets import PRELIMINARY
from app.jobs.live import Stopping

PROTOCOL = "graphql-transport-ws"
INIT_SECONDS = 10.0
MAX_OPERATIONS = 30
MAX_SOCKETS = 400
"""The maximum number of initialised connections of an account in a process: twice that of its streams."""

EXCESS_SECONDS = 0.1
"""The pause in reading a connection after it requested too many operations."""

MAX_SIGNAL = 4096
"""The maximum number of characters of every message except `subscribe`."""

KEY_HEADERS = frozenset({"authorization", "x-api-key"})
"""The headers of a key. The payload of `connection_init` may contain them, because browsers cannot set headers."""


Payload = dict[str, Any] | InvalidJson
"""The operation of a `subscribe`, or the error of its JSON."""


class Close(Exception):
    """The connection must be closed."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason


class Connection:
    """One connection: concurrent operations, each in its own task, with one key.

    `sockets` counts the initialised connections of each account.
    """

    def __init__(
        self, socket: WebSocket, streams: Streams, identify: Identify, origin: Origin, sockets: Counter[int]
    ) -> None:
        self._socket = socket
        self._address = address_of(socket)
        self._streams = streams
        self._identify = identify
        self._origin = origin
        self._sockets = sockets
        self._account_id: int | None = None
        self._headers: Mapping[str, str] = {}
        self._is_ready = False
        self._operations: dict[str, asyncio.Task[None]] = {}

    async def serve(self) -> None:
        """Serve until either side closes."""
        if self._origin.sent(self._socket.headers) is False:
            await self._socket.close()
            return
        offered = PROTOCOL in self._socket.scope["subprotocols"]
        await self._socket.accept(PROTOCOL if offered else None)
        try:
            async with asyncio.TaskGroup() as tasks:
                await self._converse(tasks, offered)
        except* WebSocketDisconnect:
            pass
        except* Close as closes:
            await self._close(closes)
        finally:
            self._release()

    async def _converse(self, tasks: asyncio.TaskGroup, offered: bool) -> NoReturn:
        if not offered:
            raise Close(4406, "Subprotocol not acceptable")
        impatience = tasks.create_task(_expect_init())
        while True:
            message, size = await self._receive()
            await self._handle(message, size, tasks)
            if self._is_ready:
                impatience.cancel()

    async def _receive(self) -> tuple[dict[str, Any], int]:
        """Return the next message and its size; an oversized message is not parsed."""
        received = await self._socket.receive()
        if received["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(received["code"])
        text = received.get("text") or ""
        if not self._is_ready:
            _check_size(len(text))
        try:
            message = orjson.loads(text)
        except orjson.JSONDecodeError as fault:
            message = _salvage(text, InvalidJson(reason=str(fault)))
        if not isinstance(message, dict):
            raise Close(4400, "Messages are JSON objects")
        if message.get("type") != "subscribe":
            _check_size(len(text))
        return message, len(text)

    async def _handle(self, message: dict[str, Any], size: int, tasks: asyncio.TaskGroup) -> None:
        match message:
            case {"type": "connection_init"}:
                await self._init(message.get("payload"))
            case {"type": "ping"}:
                await self._send(type="pong")
            case {"type": "pong"}:
                pass
            case {"type": "subscribe", "id": str(id), "payload": dict() | InvalidJson() as payload} if id:
                await self._subscribe(id, payload, size, tasks)
            case {"type": "complete", "id": str(id)}:
                if operation := self._operations.pop(id, None):
                    operation.cancel()
            case _:
                raise Close(4400, "The message is of no known type, or lacks a member")

    async def _init(self, payload: object) -> None:
        if self._is_ready:
            raise Close(4429, "Too many initialisation requests")
        given = payload if isinstance(payload, dict) else {}
        keys = {name.lower(): text for name, text in given.items() if isinstance(text, str)}
        self._headers = keys if keys.keys() & KEY_HEADERS else self._socket.headers
        try:
            actor = await self._renew()
        except Unauthenticated:
            raise Close(4403, "Forbidden") from None
        except Exception as cause:
            raise Close(4500, str(translate(cause))) from cause
        self._count(actor.account_id)
        self._is_ready = True
        await self._send(type="connection_ack")

    def _count(self, account_id: int) -> None:
        if self._sockets[account_id] >= MAX_SOCKETS:
            raise Close(1013, f"An account can have {MAX_SOCKETS} connections in one process")
        self._sockets[account_id] += 1
        self._account_id = account_id

    def _release(self) -> None:
        if self._account_id is None:
            return
        self._sockets[self._account_id] -= 1
        if not self._sockets[self._account_id]:
            del self._sockets[self._account_id]

    async def _renew(self) -> Actor:
        actor = await self._identify(self._headers)
        if actor is None:
            raise Unauthenticated(reason="A key is needed.")
        return actor

    async def _subscribe(self, id: str, payload: Payload, size: int, tasks: asyncio.TaskGroup) -> None:
        if not self._is_ready:
            raise Close(4401, "Unauthorized")
        if id in self._operations:
            raise Close(4409, f"Subscriber for {id[:64]} already exists")
        if len(self._operations) < MAX_OPERATIONS:
            self._operations[id] = tasks.create_task(self._operate(id, payload, size))
        else:  # sent here, not in a task, so that errors for a client that reads nothing do not accumulate
            error = QueryTooComplex(reason=f"A connection runs {MAX_OPERATIONS} operations at a time at most.")
            await self._send(id=id, type="error", payload=[self._streams.format_error(error)])
            await asyncio.sleep(EXCESS_SECONDS)

    async def _operate(self, id: str, payload: Payload, size: int) -> None:
        try:
            if isinstance(payload, InvalidJson):
                raise payload
            await self._run(id, parse(payload, size))
            end = {"type": "complete"}
        except Stopping:
            raise Close(1012, "Service restart") from None
        except Refused as refused:
            if refused.must_leave:
                raise Close(4403, "Forbidden") from None
            end = {"type": "error", "payload": refused.errors}
        except DomainError as error:
            end = {"type": "error", "payload": [self._streams.format_error(error)]}
        await self._send(id=id, **end)
        del self._operations[id]

    async def _run(self, id: str, asked: Parameters) -> None:
        async with aclosing(await self._streams.open(asked, self._renew, self._address)) as pieces:
            async for piece in pieces:
                if piece:
                    await self._send(id=id, type="next", payload=piece.result)

    async def _send(self, **message: Any) -> None:
        mark = {} if self._is_ready else {PRELIMINARY: True}
        try:
            await self._socket.send({"type": "websocket.send", "text": orjson.dumps(message).decode(), **mark})
        except RuntimeError:  # the server has closed the connection without a notification
            raise WebSocketDisconnect(1006) from None

    async def _close(self, closes: BaseExceptionGroup[Close]) -> None:
        first: Any = closes
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        with suppress(WebSocketDisconnect):
            await self._socket.close(first.code, first.reason)


def _check_size(size: int) -> None:
    if size > MAX_SIGNAL:
        raise Close(4400, f"Only subscribe may have more than {MAX_SIGNAL} characters")


def _salvage(text: str, fault: InvalidJson) -> dict[str, Any]:
    """Return the JSON error of a `subscribe` as its payload; raise `Close` for any other message.

    Browsers can send half an emoji in JSON, which cannot be parsed. The other operations continue.
    """
    try:
        message = json.loads(text, parse_int=str, parse_float=str)
        id, kind = message["id"].encode().decode(), message.get("type")
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
        id = kind = ""
    if not id or kind != "subscribe":
        raise Close(4400, "Messages are JSON in text frames")
    return {"type": "subscribe", "id": id, "payload": fault}


async def _expect_init() -> NoReturn:
    await asyncio.sleep(INIT_SECONDS)
    raise Close(4408, "Connection initialisation timeout")

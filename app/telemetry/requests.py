"""Middleware that gives each request an id and measures its time."""

import random
import re
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from contextvars import ContextVar
from typing import Any

import structlog
from prometheus_client import Histogram
from structlog.typing import EventDict

from app.telemetry.metrics import REQUEST_SECONDS

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

HEADER = b"x-request-id"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
SLOW_SECONDS = 1.0

_ACCEPTABLE = re.compile(rb"[A-Za-z0-9_-]{8,64}")
REQUEST_ID: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The id of the request being served."""

_EXTRA: ContextVar[tuple[tuple[bytes, bytes], ...]] = ContextVar("extra", default=())


def add_headers(headers: Mapping[str, str]) -> None:
    """Put headers, whose names are in lower case, on the answer to the request being served, whatever it will be.

    They replace those of the same names that were put on it before.
    """
    added = {name.encode(): value.encode() for name, value in headers.items()}
    _EXTRA.set(tuple((dict(before) | added if (before := _EXTRA.get()) else added).items()))


def add_request_id(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Add the id of the request being served to a log line; a processor of structlog."""
    if id := REQUEST_ID.get():
        event.setdefault("request_id", id)
    return event


class RequestTelemetry:
    """The outermost ASGI middleware, so that its header is on every response, errors included.

    The id is the client's `X-Request-Id`, if it is 8 to 64 letters, digits, `-` and `_`, else a new one that sorts
    by time. It is left in `scope["state"]["request_id"]`.

    A request is measured up to the beginning of its answer, since the length of a stream says nothing about the
    service, and under the path of `scope["route"]`. FastAPI sets that for its own routes only: a plain Starlette route
    has to put itself there, in its `matches`.

    An answer of 500 or more, or one slower than a second, is logged as a warning, any other for debugging only: an
    access log costs several times the work of a request.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._timers: dict[tuple[str, str, int], Histogram] = {}
        self._log = structlog.get_logger(__name__).bind()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, and record its response."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        request_id = _given_id(scope["headers"]) or new_id()
        scope.setdefault("state", {})["request_id"] = request_id
        REQUEST_ID.set(request_id)
        _EXTRA.set(())
        echo = (HEADER, request_id.encode())
        started = time.perf_counter()

        def answer(message: Message) -> Awaitable[None]:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_EXTRA.get(), echo]
                self._record(scope, message["status"], time.perf_counter() - started)
            return send(message)

        await self._app(scope, receive, answer)

    def _record(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in METHODS else "other"
        key = (method, route_of(scope), int(status))
        timer = self._timers.get(key)
        if timer is None:
            timer = self._timers[key] = REQUEST_SECONDS.labels(*key)
        timer.observe(seconds)
        log = self._log.warning if status >= 500 or seconds > SLOW_SECONDS else self._log.debug
        log("request", method=method, route=key[1], status=key[2], milliseconds=round(seconds * 1000, 1))


def route_of(scope: Scope) -> str:
    """Return the path of the route that serves a request, with the names of its parameters: values may be secrets."""
    return getattr(scope.get("route"), "path", "unmatched")


def _given_id(headers: list[tuple[bytes, bytes]]) -> str | None:
    for name, value in headers:
        if name == HEADER:
            return value.decode() if _ACCEPTABLE.fullmatch(value) else None
    return None


def new_id() -> str:
    """Return an id of a request; ids sort by time."""
    return f"{time.time_ns() // 1_000_000:012x}{random.getrandbits(80):020x}"

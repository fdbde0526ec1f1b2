"""Slows down networks with many anonymous requests.

Valkey counts the expensive anonymous requests; this covers all others: documents, probes, unknown paths. It counts in
the memory of the process, and refuses nothing.
"""

import asyncio
from collections.abc import Awaitable
from contextvars import ContextVar
from time import monotonic

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.domain.kernel.networks import GROWTH, networks_of

BURST_SECONDS = 5.0
"""The burst of a network, in seconds of its rate."""

DELAY_SECONDS = 0.1
MAX_DELAYED = 1_000
MAX_NETWORKS = 10_000

_AUTHENTICATED: ContextVar[bool] = ContextVar("authenticated", default=False)


def mark_authenticated() -> None:
    """Mark the current request as authenticated by a valid key, session, code or signature."""
    _AUTHENTICATED.set(True)


class Paced:
    """ASGI middleware that delays the responses to a network with too many anonymous requests.

    A network has `per_second` responses, each wider one `GROWTH` times as many.
    """

    def __init__(self, app: ASGIApp, per_second: float) -> None:
        self._app = app
        self._cost = 1 / per_second
        self._full_at: dict[str, float] = {}
        self._delayed = 0

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Handle a request, and delay the start of its response if necessary."""
        if scope["type"] != "http":
            return self._app(scope, receive, send)
        _AUTHENTICATED.set(False)
        address = scope["client"][0] if scope.get("client") else ""

        def begin(message: Message) -> Awaitable[None]:
            if message["type"] == "http.response.start" and not _AUTHENTICATED.get() and self._is_hasty(address):
                return self._send_later(send, message)
            return send(message)

        return self._app(scope, receive, begin)

    def _is_hasty(self, address: str) -> bool:
        """Count a response; return whether the network, or a wider one, has exceeded its rate."""
        now, hasty = monotonic(), False
        for width, network in enumerate(networks_of(address)):
            full_at = max(self._full_at.pop(network, now), now) + self._cost / GROWTH**width
            hasty = hasty or full_at - now > BURST_SECONDS
            self._full_at[network] = min(full_at, now + BURST_SECONDS)
        while len(self._full_at) > MAX_NETWORKS:
            del self._full_at[next(iter(self._full_at))]
        return hasty

    async def _send_later(self, send: Send, message: Message) -> None:
        await self._delay()
        await send(message)

    async def _delay(self) -> None:
        if self._delayed >= MAX_DELAYED:
            return
        self._delayed += 1
        try:
            await asyncio.sleep(DELAY_SECONDS)
        finally:
            self._delayed -= 1

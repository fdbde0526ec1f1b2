"""Slows down networks that ask much without showing who they are.

What is counted in Valkey is counted for what it costs; this is for everything else that anybody may ask: documents,
probes, addresses that are none. It takes memory of one process alone, and refuses nothing.
"""

import asyncio
from contextvars import ContextVar
from time import monotonic

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.domain.kernel.networks import GROWTH, networks_of

BURST_SECONDS = 5.0
"""How many seconds' worth of answers a network has at once."""

DELAY_SECONDS = 0.1
MAX_DELAYED = 1_000
MAX_NETWORKS = 10_000

_RECOGNISED: ContextVar[bool] = ContextVar("recognised", default=False)


def recognise() -> None:
    """Note that the request being served came with a good key, session, code or signature."""
    _RECOGNISED.set(True)


class Paced:
    """ASGI middleware that begins an answer a moment later, where a network was given too many without being known.

    A network is given `per_second` answers, a wider one `GROWTH` times as many.
    """

    def __init__(self, app: ASGIApp, per_second: float) -> None:
        self._app = app
        self._cost = 1 / per_second
        self._full_at: dict[str, float] = {}
        self._delayed = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and hold the beginning of its answer back where need be."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        _RECOGNISED.set(False)
        address = scope["client"][0] if scope.get("client") else ""

        async def begin(message: Message) -> None:
            if message["type"] == "http.response.start" and not _RECOGNISED.get() and self._is_hasty(address):
                await self._delay()
            await send(message)

        await self._app(scope, receive, begin)

    def _is_hasty(self, address: str) -> bool:
        """Count an answer; tell whether the network, or one that it is a part of, has had its share."""
        now, hasty = monotonic(), False
        for width, network in enumerate(networks_of(address)):
            full_at = max(self._full_at.pop(network, now), now) + self._cost / GROWTH**width
            hasty = hasty or full_at - now > BURST_SECONDS
            self._full_at[network] = min(full_at, now + BURST_SECONDS)
        while len(self._full_at) > MAX_NETWORKS:
            del self._full_at[next(iter(self._full_at))]
        return hasty

    async def _delay(self) -> None:
        if self._delayed >= MAX_DELAYED:
            return
        self._delayed += 1
        try:
            await asyncio.sleep(DELAY_SECONDS)
        finally:
            self._delayed -= 1

"""The answer of a link to a file: it is sent in pieces, and may be aborted."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from functools import partial

import structlog
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from app.domain.kernel.errors import DomainError

PACE = 16 * 1024
"""The minimum rate of a client, in bytes per second."""

PATIENCE_SECONDS = 30.0
"""The seconds that a client may be behind `PACE`."""

log = structlog.get_logger(__name__)


class Download(StreamingResponse):
    """A file that is sent in pieces. Its slot, if any, is released at the end, or when the client disconnects.

    It is aborted when the link ends, and when the client reads slower than `PACE`: the connection is closed before the
    end of the response.
    """

    def __init__(
        self,
        pieces: AsyncGenerator[bytes],
        headers: dict[str, str],
        media_type: str,
        place: AsyncExitStack | None = None,
    ) -> None:
        super().__init__(pieces, 200, headers, media_type)
        self._pieces, self._place, self._patience = pieces, place or AsyncExitStack(), PATIENCE_SECONDS

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file; raise `ClientDisconnect` when it is aborted."""
        async with self._place, aclosing(self._pieces):
            try:
                await super().__call__(scope, receive, partial(self._send, send))
            except (DomainError, TimeoutError) as cause:
                log.info("download_aborted", cause=repr(cause))
                raise ClientDisconnect from cause

    async def _send(self, send: Send, message: Message) -> None:
        """Send a message; raise `TimeoutError` when the client's time is used up. Each byte read adds time."""
        began = time.monotonic()
        async with asyncio.timeout(self._patience):
            await send(message)
        waited, earned = time.monotonic() - began, len(message.get("body", b"")) / PACE
        self._patience = min(self._patience - waited + earned, PATIENCE_SECONDS)

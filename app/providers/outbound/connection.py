"""One connection to a peer."""

import asyncio
import select
from functools import partial
from typing import cast

from app.domain.webhooks.poster import PostError
from app.providers.outbound.answer import BODY_KEPT, Answer, AnswerReader
from app.providers.outbound.failure import ExchangeFailed
from app.providers.outbound.limit import Limit

Key = tuple[str, str]
"""The key of reusable connections: scheme, host and port of a URL, and the checked address."""


class Connection(asyncio.Protocol):
    """Sends one request after another; closes on unrequested data."""

    def __init__(self, key: Key) -> None:
        self.key = key
        self.expires_at = 0.0
        self._loop = asyncio.get_running_loop()
        self._reader = AnswerReader()
        self._waiter: asyncio.Future[Answer] | None = None

    @property
    def address(self) -> str:
        """Return the address of the peer."""
        return self.key[1]

    async def exchange(self, request: bytes, seconds: float, kept: int = BODY_KEPT) -> Answer:
        """Send a request once and return its answer; raise `ExchangeFailed`, and end, where none comes in `seconds`.

        `kept` is how much of the answer's body is kept, in bytes.
        """
        if self._transport.is_closing():
            raise ExchangeFailed(PostError.closed)
        self._reader.start(kept)
        waiter = self._waiter = self._loop.create_future()
        limit = Limit(self._loop, seconds, partial(self._fail, PostError.timeout))
        self._transport.write(request)
        try:
            return await waiter
        except BaseException:
            self.abort()
            raise
        finally:
            limit.cancel()

    def is_fresh(self) -> bool:
        """Return whether an idle connection can be reused: its peer has neither closed it nor sent data."""
        return not self._transport.is_closing() and self._loop.time() < self.expires_at and not self._poll.poll(0)

    def expire_after(self, seconds: float) -> None:
        """Set how long it is fresh while it is idle."""
        self.expires_at = self._loop.time() + seconds

    def is_settled(self) -> bool:
        """Return whether the request was sent completely, and no unrequested data was received."""
        return not self._transport.is_closing() and self._transport.get_write_buffer_size() == 0

    def abort(self) -> None:
        """Close at once, without waiting for the peer."""
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport."""
        self._transport = cast(asyncio.Transport, transport)
        self._poll = select.poll()
        self._poll.register(transport.get_extra_info("socket").fileno(), select.POLLIN)

    def data_received(self, data: bytes) -> None:
        """Parse a part of the response."""
        waiter = self._waiter
        if waiter is None or waiter.done():
            self.abort()
            return
        try:
            if self._reader.feed(data):
                waiter.set_result(self._reader.answer())
        except ExchangeFailed as failure:
            self._fail(failure.error)

    def connection_lost(self, exc: Exception | None) -> None:
        """Complete a response that ends with the connection; fail any other."""
        waiter = self._waiter
        if waiter is None or waiter.done():
            return
        if exc is None and self._reader.end():
            waiter.set_result(self._reader.answer())
        else:
            self._fail(PostError.closed)

    def _fail(self, error: PostError) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(ExchangeFailed(error))

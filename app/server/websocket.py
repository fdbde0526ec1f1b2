"""WebSockets with limits."""

import asyncio
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame

from app.http.websockets import PRELIMINARY
from app.server.connection_limits import BoundedConfig

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """One connection.

    Until the application sends its first message that is not `PRELIMINARY`, within `handshake_seconds`, it can be
    evicted like an idle one.
    Reading is paused while the client does not read, so that queued responses, pongs included, stay limited.
    """

    config: BoundedConfig  # pyrefly: ignore[bad-override-mutable-attribute]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._limits = self.config.limits
        self._stall: asyncio.TimerHandle | None = None
        self._end: asyncio.TimerHandle | None = None
        self._begin: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a connection over from HTTP."""
        super().connection_made(transport)
        self.config.idle[self] = None
        self._begin = self.loop.call_later(self._limits.handshake_seconds, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """Release the connection."""
        self.config.idle.pop(self, None)
        self.config.release(self.transport)
        for timer in (self._stall, self._end, self._begin):
            if timer is not None:
                timer.cancel()
        self.connections.add(self)  # the base class removes it; an evicted connection was removed before
        super().connection_lost(exc)

    def evict(self) -> None:
        """Close a connection without a response."""
        self.connections.discard(self)
        self.transport.abort()

    async def send(self, message: "ASGISendEvent") -> None:
        """Send a message of the application."""
        if message["type"] == "websocket.send" and PRELIMINARY not in message:
            self.config.idle.pop(self, None)
            if self._begin is not None:
                self._begin.cancel()
        await super().send(message)

    def pause_writing(self) -> None:
        """Pause reading and writing, and abort when the client does not read for `stall_seconds`."""
        super().pause_writing()
        if self._stall is None:
            self.transport.pause_reading()
            self._stall = self.loop.call_later(self._limits.stall_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Resume after the client has read."""
        super().resume_writing()
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None
            if not self.read_paused:
                self.transport.resume_reading()

    async def receive(self) -> Any:
        """Return the next message; keep reading paused while the client does not read."""
        message = await super().receive()
        if self._stall is not None and not self.transport.is_closing():
            self.transport.pause_reading()
        return message

    def handle_cont(self, event: Frame) -> None:
        """Add a fragment of a message, up to the limit."""
        if len(self.frames) >= self._limits.fragments:
            self._fail(CloseCode.MESSAGE_TOO_BIG, "The message has too many parts")
        else:
            super().handle_cont(event)

    def send_receive_event_to_app(self) -> None:
        """Queue a message for the application, up to the limit."""
        if self.queue.qsize() >= self._limits.waiting_messages:
            self._fail(CloseCode.POLICY_VIOLATION, "Too many messages wait")
        else:
            super().send_receive_event_to_app()

    def keepalive_timeout(self) -> None:
        """Close a connection whose client does not answer pings."""
        super().keepalive_timeout()
        self._abort_later()

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        """Close the connection soon after the application has ended."""
        super().on_task_complete(task)
        if not self.disconnected:
            self._abort_later()

    def _fail(self, code: CloseCode, reason: str) -> None:
        if not self.close_sent:
            self.frames = []
            self.conn.fail(code, reason)
            self.handle_parser_exception()

    def _abort_later(self) -> None:
        if self._end is None:
            self._end = self.loop.call_later(self._limits.linger_seconds + self.close_timeout, self.transport.abort)

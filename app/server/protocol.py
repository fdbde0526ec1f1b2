"""HTTP/1.1 with limits: uvicorn's protocol limits neither the size of a request's head nor its time."""

import asyncio
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from app.domain.kernel.errors import (
    BodyTooLarge,
    DomainError,
    HeadersTooLarge,
    InvalidRequest,
    RequestTimeout,
    Unavailable,
)
from app.http.headers import DEFAULTS
from app.server import request_heads
from app.server.connection_limits import BoundedConfig

SLICE = 16 * 1024
"""Bytes parsed between checks of the limits; a network read returns up to 256 KiB."""

HANDSHAKE_LINE = 8_000
"""Maximum header length of a handshake; the WebSocket library raises for lines over 8 KiB."""


class BoundedHttp(HttpToolsProtocol):
    """One connection.

    It is in a request's head, between requests, or in a body (`_in_body`). One deadline runs from the start of the
    connection, or from the first byte of a later head, to the end of that head, and another to the end of the body. A
    connection without a request is `idle`, one in a body `unfinished`; both can be evicted. An error in a head is
    answered after the previous requests, and closes the connection.
    """

    config: BoundedConfig  # pyrefly: ignore[bad-override-mutable-attribute]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.timeout_keep_alive = self.config.timeout_keep_alive
        self._limits = self.config.limits
        self._in_body = False
        self._received = 0
        self._header_count = 0
        self._chunk_count = 0
        self._deadline: asyncio.TimerHandle | None = None
        self._stall: asyncio.TimerHandle | None = None
        self._refusal: DomainError | None = None
        self._plain_head: bytes | None = None
        self._is_over = False

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Admit a connection, or answer `Unavailable` and close it."""
        has_room = self.config.admit(transport, len(self.connections))
        super().connection_made(transport)
        if has_room:
            self.config.idle[self] = None
            self._start_deadline(self._limits.head_seconds)
        else:
            self.connections.discard(self)
            self._is_over = True
            self._write(Unavailable())
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Release the connection."""
        self._stop_timers()
        self.config.discard(self)
        self.config.release(self.transport)
        super().connection_lost(exc)

    def evict(self) -> None:
        """Close a connection without a complete request."""
        self.connections.discard(self)
        self._is_over = True
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Parse received data within the limits."""
        if self._is_over:
            self._discard(len(data))
            return
        self._unset_keepalive_if_required()
        for start in range(0, len(data), SLICE):
            if self._is_over or self._refusal is not None or self.transport.is_closing():
                return
            try:
                self._feed(data[start : start + SLICE])
            except httptools.HttpParserUpgrade as upgrade:
                self._upgrade(data[start + upgrade.args[0] :])
                return
            except httptools.HttpParserError as fault:
                cause = fault.__context__
                self._refuse(cause if isinstance(cause, DomainError) else InvalidRequest(reason="It is not HTTP/1.1"))
            except DomainError as refusal:
                self._refuse(refusal)
        if (self._in_body or self._received) and self._deadline is None and not self._is_over:
            self._start_deadline(self._limits.body_seconds if self._in_body else self._limits.head_seconds)

    def _discard(self, count: int) -> None:
        self._received += count
        if self._received > self._limits.body_bytes:
            self.transport.abort()

    def _feed(self, piece: bytes) -> None:
        assert self.parser
        self._received += len(piece)
        self.parser.feed_data(piece)
        if self._in_body and self._received > self._limits.body_bytes:
            raise BodyTooLarge(limit=self._limits.body_bytes)
        if not self._in_body and self._received > self._limits.head_bytes:
            raise HeadersTooLarge()

    def _read_plainly(self, rest: bytes) -> None:
        """Parse a request again without its Upgrade header, after which the parser would ignore its body."""
        assert self._plain_head is not None
        head, self._plain_head = self._plain_head, None
        self._begin_part(in_body=False)
        self._header_count = 0
        self.parser = httptools.HttpRequestParser(self)
        self.data_received(head + rest)

    def _upgrade(self, rest: bytes) -> None:
        """Hand the connection to the WebSocket protocol; `rest` is the data after the head."""
        if self._plain_head is not None:
            self._read_plainly(rest)
            return
        if self._is_busy():
            self._refuse(InvalidRequest(reason="An upgrade must wait for the response to the request before it"))
            return
        if (
            len(self.url) > HANDSHAKE_LINE
            or max(len(name) + len(value) for name, value in self.headers) > HANDSHAKE_LINE
        ):
            self._end(HeadersTooLarge())
            return
        self._stop_timers()
        self.config.discard(self)
        self.handle_websocket_upgrade()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header; trailers after a body are dropped, since the application has started."""
        self._header_count += 1
        if self._header_count > self._limits.headers:
            raise HeadersTooLarge()
        if not self._in_body:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Check the head, and start or queue the request."""
        assert self.parser
        version = self.parser.get_http_version()
        request_heads.check(version, self.url, self.headers, self._limits.head_bytes)
        if self.parser.should_upgrade() and self._ignores_upgrade(method := self.parser.get_method()):
            self._plain_head = request_heads.without_upgrade(method, self.url, version, self.headers)
            return
        if len(self.pipeline) >= self._limits.pipelined:
            raise InvalidRequest(reason=f"At most {self._limits.pipelined} requests wait on one connection")
        self._begin_part(in_body=True)
        self.config.idle.pop(self, None)
        self.config.unfinished[self] = None
        super().on_headers_complete()

    def _ignores_upgrade(self, method: bytes) -> bool:
        """Return whether the Upgrade header of a request is ignored; raise `InvalidRequest`."""
        if method == b"CONNECT":
            raise InvalidRequest(reason="The service is not a proxy")
        if request_heads.names_websocket(self.headers):
            request_heads.check_has_no_body(self.headers)
        return not self._should_upgrade()

    def on_chunk_header(self) -> None:
        """Count the chunks of a body."""
        self._chunk_count += 1
        if self._chunk_count > self._limits.chunks:
            raise InvalidRequest(reason=f"A body has at most {self._limits.chunks} chunks")

    def on_message_complete(self) -> None:
        """End a request."""
        if self._plain_head is not None:
            return
        self._begin_part(in_body=False)
        self.config.unfinished.pop(self, None)
        self._header_count = self._chunk_count = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Start the next request, answer a refused head, or become idle."""
        super().on_response_complete()
        if self.transport.is_closing():
            self._abort_if_unsent()
        elif self._is_busy() or self._is_over:
            return
        elif self._refusal is not None:
            self._end(self._refusal)
        elif not self._in_body:
            self.config.idle[self] = None

    def pause_writing(self) -> None:
        """Pause writing, and abort when the client does not read for `stall_seconds`."""
        super().pause_writing()
        if self._stall is None:
            self._stall = self.loop.call_later(self._limits.stall_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Resume writing after the client has read."""
        self._stop_stall()
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that was idle for too long, even if its client has not read the last response."""
        self.transport.abort()

    def _begin_part(self, *, in_body: bool) -> None:
        self._in_body = in_body
        self._received = 0
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _start_deadline(self, seconds: float) -> None:
        self._deadline = self.loop.call_later(seconds, self._expire)

    def _expire(self) -> None:
        self._deadline = None
        if self._in_body or self._received:
            self._refuse(RequestTimeout())
        else:
            self.transport.close()

    def _is_busy(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _refuse(self, error: DomainError) -> None:
        """Answer an error after the previous requests, and close; abort a partly sent response."""
        if not self._is_busy() and not self._in_body:
            self._end(error)
        elif not self._in_body:
            self._refusal = error
        elif self.cycle.response_complete:
            self._disconnect()
        elif self.pipeline or self.cycle.response_started:
            self.transport.abort()
        else:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
            self._end(error)

    def _end(self, error: DomainError) -> None:
        self._write(error)
        self._disconnect()

    def _disconnect(self) -> None:
        """Close the sending side, and give the client `linger_seconds` to read the response."""
        self._stop_timers()
        self._is_over = True
        self.flow.resume_reading()
        if self.transport.can_write_eof():  # TLS has no half-closed connections
            self.transport.write_eof()
        self.config.unfinished.pop(self, None)
        self.config.idle[self] = None
        self._deadline = self.loop.call_later(self._limits.linger_seconds, self.transport.abort)

    def _write(self, error: DomainError) -> None:
        status, body = self.config.render(error)
        headers = [
            *self.server_state.default_headers,
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            *DEFAULTS,
            (b"connection", b"close"),
        ]
        lines = [STATUS_LINE[status], *(b"%b: %b\r\n" % header for header in headers), b"\r\n", body]
        self.transport.write(b"".join(lines))

    def _abort_if_unsent(self) -> None:
        if self.transport.get_write_buffer_size() and self._deadline is None:
            self._deadline = self.loop.call_later(self._limits.stall_seconds, self.transport.abort)

    def _stop_timers(self) -> None:
        self._unset_keepalive_if_required()
        self._stop_stall()
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _stop_stall(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

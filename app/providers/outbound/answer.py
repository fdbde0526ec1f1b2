"""Parses HTTP/1.x responses of untrusted peers."""

import re
import time
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from app.domain.webhooks.poster import PostError
from app.providers.outbound.failure import ExchangeFailed

HEAD_LIMIT = 64 * 1024
BODY_LIMIT = 16 * 1024
BODY_KEPT = 2 * 1024
HEADERS_KEPT = 30
VALUE_KEPT = 256
LONGEST_WAIT = 10 * 3600.0

SECONDS = re.compile("[0-9]+")
KEEP_ALIVE = re.compile(rb"timeout=([0-9]{1,4})", re.IGNORECASE)


class Answer(NamedTuple):
    """The beginning of a response."""

    status: int
    raw_headers: Mapping[bytes, bytes]
    body: bytes
    is_reusable: bool

    @property
    def headers(self) -> dict[str, str]:
        """Return the kept headers; names are lower case."""
        kept = self.raw_headers.items()
        return {name.decode("latin-1"): value.strip()[:VALUE_KEPT].decode("latin-1") for name, value in kept}

    @property
    def idle_limit(self) -> float | None:
        """Return the peer's keep-alive timeout in seconds, if stated."""
        found = KEEP_ALIVE.search(self.raw_headers.get(b"keep-alive", b""))
        return float(found[1]) if found else None


class AnswerReader:
    """Parses the responses of one connection.

    Interim responses (1xx) are skipped. A body is read up to 16 KiB, or to the size that is kept if that is more; the
    connection is closed after a longer one.
    """

    def __init__(self) -> None:
        self._parser = HttpResponseParser(self)
        self.start()

    def start(self, kept: int = BODY_KEPT) -> None:
        """Prepare for the next response; keep at most `kept` bytes of its body."""
        self._kept = kept
        self._body_limit = max(BODY_LIMIT, kept)
        self.is_complete = False
        self._status = 0
        self._headers: dict[bytes, bytes] = {}
        self._body = b""
        self._body_size = 0
        self._received = 0
        self._is_delimited = False
        self._is_reusable = False

    def feed(self, data: bytes) -> bool:
        """Parse data; return True when the response is complete. Raise `ExchangeFailed` for invalid HTTP."""
        self._received += len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade):
            self._is_reusable = False
            if not self.is_complete:
                raise ExchangeFailed(PostError.protocol) from None
        if not self.is_complete:
            self._check_sizes()
        return self.is_complete

    def end(self) -> bool:
        """Handle the end of the stream; return True when it completes the response."""
        self.is_complete = self.is_complete or (self._status > 0 and not self._is_delimited)
        return self.is_complete

    def answer(self) -> Answer:
        """Return the complete response."""
        return Answer(self._status, self._headers, self._body, self._is_reusable)

    def _check_sizes(self) -> None:
        limit = self._body_limit
        if self._status and (self._body_size > limit or self._received > HEAD_LIMIT + limit):
            self.is_complete, self._is_reusable = True, False
        elif not self._status and self._received > HEAD_LIMIT:
            raise ExchangeFailed(PostError.too_large)

    def on_message_begin(self) -> None:
        """Handle the start of a response; an unrequested one makes the connection unusable."""
        if self.is_complete:
            self._is_reusable = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; trailers are dropped."""
        if self._status:
            return
        name = name.lower()
        if name == b"content-length" or (name == b"transfer-encoding" and b"chunked" in value.lower()):
            self._is_delimited = True
        if name in self._headers:
            self._headers[name] += b", " + value
        elif len(self._headers) < HEADERS_KEPT:
            self._headers[name] = value

    def on_headers_complete(self) -> None:
        """Keep the status, unless it is an interim one."""
        status = self._parser.get_status_code()
        if self.is_complete:
            return
        if status < 200:
            self._headers = {}
            self._is_delimited = False
            return
        self._status = status
        self._is_reusable = self._parser.should_keep_alive()

    def on_body(self, data: bytes) -> None:
        """Keep the beginning of the body."""
        if self.is_complete:
            return
        if len(self._body) < self._kept:
            self._body += data[: self._kept - len(self._body)]
        self._body_size += len(data)

    def on_message_complete(self) -> None:
        """Mark the response as complete, unless it is an interim one."""
        self.is_complete = self.is_complete or self._status > 0


def read_retry_after(value: str) -> float | None:
    """Read a Retry-After header, seconds or a date (RFC 9110, 10.2.3): seconds from now, at most 10 hours."""
    if SECONDS.fullmatch(value):
        return min(float(value), LONGEST_WAIT)
    try:
        at = parsedate_to_datetime(value)
        seconds = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() - time.time()
    except (ValueError, OverflowError, TypeError):
        return None
    return min(max(seconds, 0.0), LONGEST_WAIT)

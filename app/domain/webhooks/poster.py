"""Port that posts a body to a subscriber's URL."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


class PostError(enum.StrEnum):
    """The cause of a POST without an HTTP response.

    After `timeout`, `closed`, `protocol` and `too_large` the subscriber may have read the body; after any other it
    has not.
    """

    invalid_url = enum.auto()
    refused_address = enum.auto()
    dns = enum.auto()
    connect = enum.auto()
    tls = enum.auto()
    timeout = enum.auto()
    closed = enum.auto()
    protocol = enum.auto()
    too_large = enum.auto()


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of one POST: a `status`, or an `error` (a `PostError`) when no response was received.

    `address` is the IP address connected to, `duration` is in seconds, header names are lower case. `headers` and
    `body` are the beginning of the response: 30 headers of 256 characters, 2 KiB. `retry_after` is in seconds, at most
    10 hours.
    """

    status: int | None = None
    error: str = ""
    address: str = ""
    duration: float = 0.0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    retry_after: float | None = None

    @property
    def is_success(self) -> bool:
        """Tell whether the answer was a 2xx."""
        return self.status is not None and 200 <= self.status < 300


class Poster(Protocol):
    """Posts to URLs that users have chosen, and refuses unsafe ones (SSRF).

    `post` sends the body at most once, follows no redirect, returns within its own time limit and never raises for
    an error of the subscriber. Time in which this process was blocked does not count as a subscriber's timeout.
    `headers` are text without line breaks, and none of Host, Connection, Content-Length and Transfer-Encoding.
    """

    def check(self, url: str) -> str:
        """Return the normalized URL; raise `InvalidUrl` when it can never be posted to."""
        ...

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Post the body once."""
        ...

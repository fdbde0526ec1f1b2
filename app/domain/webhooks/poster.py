"""The port to subscribers: what posts a body to a URL that a user has chosen."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


class PostError(enum.StrEnum):
    """Why a post brought no HTTP answer.

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
    """What came of one post: either a `status`, or an `error` (a `PostError`) that says why there is none.

    `address` is the one connected to, `duration` is in seconds, header names are lower case. `headers` and `body` are
    the beginning of what was answered: 30 headers of 256 characters, 2 KiB. `retry_after` is in seconds, at most 10
    hours.
    """

    status: int | None = None
    error: str = ""
    address: str = ""
    duration: float = 0.0
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""
    retry_after: float | None = None

    @property
    def is_success(self) -> bool:
        """Tell whether the answer was a 2xx."""
        return self.status is not None and 200 <= self.status < 300


class Poster(Protocol):
    """Posts to URLs that users have chosen, and only to those that it is safe to post to.

    `post` sends the body at most once, follows no redirect, answers within its own time limit and never raises for
    what a subscriber can do to it. Nor does it blame a subscriber for the time in which this process was held up. Its
    `headers` are text without line breaks, and none of Host, Connection, Content-Length and Transfer-Encoding.
    """

    def check(self, url: str) -> str:
        """Return the URL in its normal form; raise `InvalidUrl` where it could never be posted to."""
        ...

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Post the body once."""
        ...

"""What one connection may take, and which connections give way when there are too many."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import uvicorn

from app.domain.kernel.errors import DomainError


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a connection and its requests. `body_bytes` counts what chunks add to a body as well."""

    connections: int = 2_000
    head_seconds: float = 10.0
    body_seconds: float = 30.0
    handshake_seconds: float = 20.0
    stall_seconds: float = 30.0
    linger_seconds: float = 2.0
    head_bytes: int = 32 * 1024
    headers: int = 100
    body_bytes: int = 1024 * 1024
    chunks: int = 1024
    pipelined: int = 16
    fragments: int = 1024
    waiting_messages: int = 256


class Evictable(Protocol):
    """A connection that nothing is being done for."""

    def evict(self) -> None:
        """Close the connection at once."""
        ...


class BoundedConfig(uvicorn.Config):
    """The configuration of a server with `limits`; `render` makes an error the status and the JSON of its answer.

    `idle` holds the connections without a request, the oldest first.
    """

    def __init__(
        self, app: Any, limits: Limits, render: Callable[[DomainError], tuple[int, bytes]], **options: Any
    ) -> None:
        super().__init__(app, **options)
        self.limits = limits
        self.render = render
        self.idle: dict[Evictable, None] = {}

    def make_room(self) -> bool:
        """Close the connection that has been without a request for longest; return False where there is none."""
        oldest = next(iter(self.idle), None)
        if oldest is None:
            return False
        del self.idle[oldest]
        oldest.evict()
        return True

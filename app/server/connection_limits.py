"""Limits of connections and requests, and eviction when there are too many connections."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from ssl import SSLContext
from typing import Any, Protocol

import uvicorn
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.utils import get_remote_addr

from app.domain.kernel.errors import DomainError
from app.domain.kernel.networks import GROWTH, networks_of


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a connection and its requests. `body_bytes` includes the overhead of chunks."""

    connections: int = 2_000
    address_connections: int = 500
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
    """A connection that may be closed: it has no request, or an incomplete one."""

    @property
    def transport(self) -> Any:
        """Return the transport, which identifies the connection."""
        ...

    def evict(self) -> None:
        """Close the connection at once."""
        ...


class BoundedConfig(uvicorn.Config):
    """The configuration of a server with `limits`; `render` returns the status and JSON body of an error.

    `idle` holds the connections without a request, the oldest first, and `unfinished` those whose request has a body
    that did not come whole yet. `tls` is there where HTTPS is served. Each network (an address, or 64 bits of IPv6) may
    have `address_connections`, and the wider networks around it `GROWTH` times as many each, up to three quarters of
    all; trusted proxies, which bring the clients of many, any number.
    """

    def __init__(
        self,
        app: Callable[..., Any],
        limits: Limits,
        render: Callable[[DomainError], tuple[int, bytes]],
        **options: Any,
    ) -> None:
        super().__init__(app, **options)
        self.limits = limits
        self.render = render
        self.tls: SSLContext | None = None
        self.idle: dict[Evictable, None] = {}
        self.unfinished: dict[Evictable, None] = {}
        self._networks: dict[Any, list[str]] = {}
        self._held: Counter[str] = Counter()
        self._proxies = ProxyHeadersMiddleware(app, self.forwarded_allow_ips).trusted_hosts

    def load(self) -> None:
        """Load the configuration; the handshake is left to the protocol, so that it counts as a connection."""
        super().load()
        self.tls, self.ssl = self.ssl, None

    def admit(self, transport: asyncio.Transport, connections: int) -> bool:
        """Admit a new connection beside `connections` others; return False when it is refused.

        At the limit, evict a connection of the address with most connections: the one that is idle for longest, or else
        its oldest unfinished request. At the limit of a network of the new connection, evict one of that network.
        """
        networks = self._find_networks(transport)
        if full := next((each for width, each in enumerate(networks) if self._is_full(each, width)), None):
            has_place = self._evict(each for each in self._spare() if full in self._networks.get(each.transport, ()))
        else:
            has_place = connections < self.limits.connections or self._evict(self._spare())
        if has_place and networks:
            self._networks[transport] = networks
            self._held.update(networks)
        return has_place

    def _is_full(self, network: str, width: int) -> bool:
        """Return whether a network has no place; a `width` of 0 is that of an address."""
        own, most = self.limits.address_connections, self.limits.connections * 3 // 4
        return self._held[network] >= max(own, min(own * GROWTH**width, most))

    def discard(self, connection: Evictable) -> None:
        """Remove a connection that is busy or closed from the evictable ones."""
        self.idle.pop(connection, None)
        self.unfinished.pop(connection, None)

    def release(self, transport: asyncio.Transport | None) -> None:
        """Uncount a connection of its networks, once."""
        for network in self._networks.pop(transport, ()):
            self._held[network] -= 1
            if not self._held[network]:
                del self._held[network]

    def _spare(self) -> Iterator[Evictable]:
        return chain(self.idle, self.unfinished)

    def _evict(self, candidates: Iterator[Evictable]) -> bool:
        """Evict the first candidate of the address with most connections."""
        chosen = max(candidates, key=self._count_beside, default=None)
        if chosen is None:
            return False
        self.discard(chosen)
        self.release(chosen.transport)
        chosen.evict()
        return True

    def _count_beside(self, candidate: Evictable) -> int:
        """Return the number of connections of a connection's address, or 64 bits of IPv6."""
        networks = self._networks.get(candidate.transport)
        return self._held[networks[0]] if networks else 0

    def _find_networks(self, transport: asyncio.Transport) -> list[str]:
        """Return the networks of a connection, narrowest first.

        A trusted proxy and a Unix socket have none, and so no limit.
        """
        client = get_remote_addr(transport)
        return [] if client is None or client[0] in self._proxies else networks_of(client[0])

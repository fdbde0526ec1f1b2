"""TLS handshakes within the limits of connections; asyncio's own server counts none before its handshake is done."""

import asyncio
import socket
from contextlib import suppress
from pathlib import Path
from typing import Any

from uvicorn.server import ServerState

from app.server.connection_limits import BoundedConfig
from app.server.protocol import BoundedHttp


def protocol_for(certificate: Path | None) -> type[asyncio.Protocol]:
    """Return the protocol that takes the connections of a server with this certificate, or without one."""
    return TlsHandshake if certificate else BoundedHttp


class TlsHandshake(asyncio.Protocol):
    """One connection until its handshake is done, for which it has `head_seconds`.

    It counts for its network, and gives way to new connections as an idle one does. asyncio takes a connection that has
    begun without TLS anew, before anything is read of it, so that `BoundedHttp` begins with the encrypted one.
    """

    def __init__(self, config: BoundedConfig, server_state: ServerState, **options: Any) -> None:
        self.transport: Any = None
        self._config = config
        self._http = SecuredHttp(config, server_state, **options)
        self._http.handshake = self
        self._connections: set[Any] = server_state.connections
        self._work: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyrefly: ignore[bad-override]
        """Take a connection; when there are too many, close one that is idle, or else this one."""
        self.transport = transport
        if self._config.admit(transport, len(self._connections)):
            self._connections.add(self)
            self._config.idle[self] = None
            raw = transport.get_extra_info("socket")
            own = socket.fromfd(raw.fileno(), raw.family, raw.type)
            self._work = asyncio.get_running_loop().create_task(self._shake_hands(own))
        transport.abort()

    def evict(self) -> None:
        """Close the connection at once."""
        self.discard()
        self.shutdown()

    def shutdown(self) -> None:
        """Close the connection."""
        if self._work is not None:
            self._work.cancel()

    def discard(self) -> None:
        """Remove the connection from the count: it is gone, or `BoundedHttp` counts it."""
        self._connections.discard(self)
        self._config.discard(self)
        self._config.release(self.transport)

    async def _shake_hands(self, own: socket.socket) -> None:
        limits = self._config.limits
        try:
            with suppress(OSError):  # refused, timed out or broken off
                await asyncio.get_running_loop().connect_accepted_socket(
                    lambda: self._http,
                    own,
                    ssl=self._config.tls,
                    ssl_handshake_timeout=limits.head_seconds,
                    ssl_shutdown_timeout=limits.linger_seconds,
                )
                return
            own.close()
        except asyncio.CancelledError:
            own.close()
            raise
        finally:
            self.discard()


class SecuredHttp(BoundedHttp):
    """HTTP on a connection whose handshake is done."""

    handshake: TlsHandshake

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Take the connection over from its handshake, which is counted no more."""
        self.handshake.discard()
        super().connection_made(transport)

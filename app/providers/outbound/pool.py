"""Pool of idle connections."""

import asyncio

from app.providers.outbound.connection import Connection, Key

MARGIN = 1.0
"""Seconds before the peer's timeout at which a connection is closed, so that no request meets the peer's close."""


class Pool:
    """Keeps idle connections for `idle_limit` seconds, at most `capacity` of them."""

    def __init__(self, idle_limit: float, capacity: int) -> None:
        self._idle_limit = idle_limit
        self._capacity = capacity
        self._idle: dict[Key, list[Connection]] = {}
        self._count = 0
        self._sweeper: asyncio.TimerHandle | None = None

    def take(self, key: Key) -> Connection | None:
        """Return the most recently used connection that is still usable."""
        idle = self._idle.get(key)
        while idle:
            connection = idle.pop()
            self._count -= 1
            if connection.is_fresh():
                return connection
            connection.abort()
        return None

    def keep(self, connection: Connection, peer_limit: float | None) -> None:
        """Keep a connection, for less than the peer's `peer_limit`."""
        limit = self._idle_limit if peer_limit is None else min(self._idle_limit, peer_limit - MARGIN)
        if limit <= 0 or self._count >= self._capacity or not connection.is_settled():
            connection.abort()
            return
        connection.expire_after(limit)
        self._idle.setdefault(connection.key, []).append(connection)
        self._count += 1
        if self._sweeper is None:
            self._sweeper = asyncio.get_running_loop().call_later(self._idle_limit, self._sweep)

    def close(self) -> None:
        """Close all idle connections."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        for connection in self._drain():
            connection.abort()

    def _sweep(self) -> None:
        """Close expired connections; repeat later if any are left."""
        self._sweeper = None
        for connection in self._drain():
            if connection.is_fresh():
                self._idle.setdefault(connection.key, []).append(connection)
                self._count += 1
            else:
                connection.abort()
        if self._count:
            self._sweeper = asyncio.get_running_loop().call_later(self._idle_limit, self._sweep)

    def _drain(self) -> list[Connection]:
        drained = [connection for idle in self._idle.values() for connection in idle]
        self._idle.clear()
        self._count = 0
        return drained

"""TCP keep-alive options, which detect a peer that vanished without closing its connection.

After a network failure, a power loss or a firewall timeout a socket waits for hours by default.
"""

import socket
from collections.abc import Mapping
from typing import Any, Protocol

IDLE_SECONDS, INTERVAL_SECONDS, PROBES = 15, 5, 3
VANISHED_SECONDS = IDLE_SECONDS + INTERVAL_SECONDS * PROBES
"""The time without a packet after which a server counts as vanished."""


class Configurable(Protocol):
    """A socket, or an event loop's view of one."""

    @property
    def family(self) -> int:
        """Return the family of its addresses."""
        ...

    def setsockopt(self, level: int, option: int, value: int, /) -> Any:
        """Set an option."""
        ...


def _options(**values: int) -> Mapping[int, int]:
    """Return options at the level of TCP, those that this system has."""
    return {getattr(socket, f"TCP_{name}"): value for name, value in values.items() if hasattr(socket, f"TCP_{name}")}


_IDLE = "KEEPIDLE" if hasattr(socket, "TCP_KEEPIDLE") else "KEEPALIVE"  # as macOS calls it

SERVERS = _options(
    **{_IDLE: IDLE_SECONDS}, KEEPINTVL=INTERVAL_SECONDS, KEEPCNT=PROBES, USER_TIMEOUT=VANISHED_SECONDS * 1000
)
"""For the connections to PostgreSQL and Redis."""

CLIENTS = _options(**{_IDLE: 60}, KEEPINTVL=15, KEEPCNT=4)
"""For the connections of clients, with longer times for mobile networks."""


def watch(sock: Configurable, options: Mapping[int, int]) -> bool:
    """Set keep-alive options on a connection; return False for a Unix socket, whose peer cannot vanish."""
    if sock.family not in (socket.AF_INET, socket.AF_INET6):
        return False
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in options.items():
        sock.setsockopt(socket.IPPROTO_TCP, option, value)
    return True

"""Listening sockets of the web process."""

import errno
import resource
import socket
from contextlib import suppress

from app import keepalive

FILES_BESIDES = 256
"""The number of open files of a process besides its connections to clients, or from a worker to peers."""


class PortTaken(Exception):
    """The port is in use, or the service cannot listen on it."""


def bind(host: str, port: int) -> list[socket.socket]:
    """Bind a port on every address of a host; the server accepts connections later. Raises `PortTaken`.

    Accepted connections inherit the keep-alive options, which detect vanished clients.
    """
    bound: list[socket.socket] = []
    try:
        for family, kind, protocol, _, address in dict.fromkeys(
            socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        ):
            sock = socket.socket(family, kind, protocol)
            bound.append(sock)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            keepalive.watch(sock, keepalive.CLIENTS)
            if family == socket.AF_INET6:
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sock.bind(address)
    except OSError as problem:
        close(bound)
        raise _taken(host, port, problem) from None
    return bound


def close(sockets: list[socket.socket]) -> None:
    """Close the sockets."""
    for sock in sockets:
        sock.close()


def allow_files(connections: int) -> None:
    """Raise the limit of open files to the number of connections, as far as the hard limit allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + FILES_BESIDES
    if soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted if hard < 0 else min(wanted, hard), hard))


def _taken(host: str, port: int, problem: OSError) -> PortTaken:
    if problem.errno == errno.EADDRINUSE:
        return PortTaken(
            f"Port {port} of {host} is taken by another program. Stop that, or choose another port with PORT."
        )
    place = f"port {port} of {host}"
    return PortTaken(f"The service cannot listen on {place}: {problem}. Choose others with PORT and MESSAGING_HOST.")

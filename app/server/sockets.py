"""The sockets that the web process listens on."""

import errno
import resource
import socket
from contextlib import suppress

from app import keepalive

FILES_BESIDES = 256
"""How many files and connections of its own a process may have open beside those of clients."""


class PortTaken(Exception):
    """Another program listens where the service is to, or nobody can listen there."""


def bind(host: str, port: int) -> list[socket.socket]:
    """Take a port on every address of a host; connections are accepted once the server starts. Raises `PortTaken`.

    What is accepted inherits the options: a client that vanished without a word is found by probes.
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
    """Give the ports back."""
    for sock in sockets:
        sock.close()


def allow_files(connections: int) -> None:
    """Let this process have as many files open as its connections need, if the machine allows that."""
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

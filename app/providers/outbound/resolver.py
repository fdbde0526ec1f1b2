"""Resolves host names."""

import asyncio
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

THREADS = 32
HELD = 1.0
"""The seconds for which a result is cached."""


class Resolver:
    """Resolves in its own threads, one look-up per host at a time, so that a slow name server delays no other host."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, "outbound-dns")
        self._asked: dict[str, asyncio.Future[list[str]]] = {}

    async def look_up(self, host: str) -> Sequence[str]:
        """Return the addresses of a host, the best first; none for an unknown host."""
        asked = self._asked.get(host)
        if asked is None:
            loop = asyncio.get_running_loop()
            asked = self._asked[host] = loop.run_in_executor(self._threads, _look_up, host)
            asked.add_done_callback(lambda _: loop.call_later(HELD, self._asked.pop, host))
        return await asyncio.shield(asked)

    def close(self) -> None:
        """Shut the threads down."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _look_up(host: str) -> list[str]:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))

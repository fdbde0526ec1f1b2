"""Resolves host names."""

import asyncio
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

THREADS = 32
HELD = 1.0
"""For how many seconds an answer is good."""


class Resolver:
    """Looks up in threads of its own, one for a host at a time: a name server that is dead holds up nobody else."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, "outbound-dns")
        self._asked: dict[str, asyncio.Future[list[str]]] = {}

    async def look_up(self, host: str) -> Sequence[str]:
        """Return the addresses of a host, the best first; none where there is no such host."""
        asked = self._asked.get(host)
        if asked is None:
            loop = asyncio.get_running_loop()
            asked = self._asked[host] = loop.run_in_executor(self._threads, _look_up, host)
            asked.add_done_callback(lambda _: loop.call_later(HELD, self._asked.pop, host))
        return await asyncio.shield(asked)

    def close(self) -> None:
        """Let the threads end."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _look_up(host: str) -> list[str]:
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return []
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))

"""Resolves host names."""

import asyncio
import socket
from collections.abc import Sequence
from functools import cached_property

from aiodns import DNSResolver
from aiodns.error import DNSError

HELD = 1.0
"""The seconds for which a result is cached; the library caches for the time that the name server states."""

TRIES = 5
"""The number of queries to a name server, at growing distances from 0.25 s on: its last answer may come after 5 s."""


class Resolver:
    """Looks names up without threads, each name once at a time: a slow name server delays no other host.

    The hosts file and the name servers are those of the machine, unless `name_servers` gives others as IP:port.
    """

    def __init__(self, name_servers: Sequence[str] = ()) -> None:
        self._name_servers = name_servers
        self._asked: dict[str, asyncio.Task[list[str]]] = {}

    async def look_up(self, host: str) -> Sequence[str]:
        """Return the addresses of a host, the best first; none for an unknown host."""
        asked = self._asked.get(host)
        if asked is None:
            loop = asyncio.get_running_loop()
            asked = self._asked[host] = loop.create_task(self._ask(host))
            asked.add_done_callback(lambda _: loop.call_later(HELD, self._asked.pop, host))
        return await asyncio.shield(asked)

    async def close(self) -> None:
        """End the pending look-ups."""
        if "_library" in self.__dict__:
            await self._library.close()

    @cached_property
    def _library(self) -> DNSResolver:
        """Return the library's resolver, which needs a running event loop."""
        return DNSResolver(self._name_servers or None, tries=TRIES)

    async def _ask(self, host: str) -> list[str]:
        try:
            found = await self._library.getaddrinfo(host, type=socket.SOCK_STREAM)
        except DNSError:
            return []
        return list(dict.fromkeys(node.addr[0].decode() for node in found.nodes))

"""A name server (RFC 1035) that answers on loopback for the names it is given."""

import asyncio
import socket
import struct
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

IPV4 = 1
ANSWERED, UNKNOWN = 0x8180, 0x8183
HEAD = 12


@dataclass
class NameServer(asyncio.DatagramProtocol):
    """Answers for `names`, not for those of `silent`, and without addresses for others; `asked` are all the names.

    It finds each answer `delay` seconds after the first query, and answers further queries then or later.
    """

    names: Mapping[str, Sequence[str]]
    silent: frozenset[str] = frozenset()
    delay: float = 0.0
    asked: list[str] = field(default_factory=list)
    found_at: dict[bytes, float] = field(default_factory=dict)
    address: str = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = cast("asyncio.DatagramTransport", transport)
        host, port = transport.get_extra_info("sockname")
        self.address = f"{host}:{port}"

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answer a query."""
        name, question = _read(data)
        (kind,) = struct.unpack("!H", question[-4:-2])
        if kind == IPV4:
            self.asked.append(name)
        if name not in self.silent:
            loop = asyncio.get_running_loop()
            found_at = self.found_at.setdefault(question, loop.time() + self.delay)
            answer = data[:2] + self._answer(name, kind, question)
            loop.call_later(max(0.0, found_at - loop.time()), self._transport.sendto, answer, addr)

    def _answer(self, name: str, kind: int, question: bytes) -> bytes:
        found = self.names.get(name)
        addresses = found or [] if kind == IPV4 else []
        head = struct.pack("!HHHHH", UNKNOWN if found is None else ANSWERED, 1, len(addresses), 0, 0)
        return head + question + b"".join(map(_record, addresses))


@asynccontextmanager
async def name_server(
    names: Mapping[str, Sequence[str]], silent: Sequence[str] = (), delay: float = 0.0
) -> AsyncGenerator[NameServer]:
    """Serve names on loopback."""
    loop = asyncio.get_running_loop()
    transport, server = await loop.create_datagram_endpoint(
        lambda: NameServer(names, frozenset(silent), delay), local_addr=("127.0.0.1", 0)
    )
    try:
        yield server
    finally:
        transport.close()


def _read(query: bytes) -> tuple[str, bytes]:
    """Return the name of a query, and its question as it is written."""
    labels, at = list[str](), HEAD
    for _ in range(len(query)):
        length = query[at]
        if not length:
            break
        labels.append(query[at + 1 : at + 1 + length].decode().lower())
        at += 1 + length
    return ".".join(labels), query[HEAD : at + 5]


def _record(address: str) -> bytes:
    """Return an A record of the question's name that may not be cached."""
    return struct.pack("!HHHIH", 0xC00C, IPV4, 1, 0, 4) + socket.inet_aton(address)

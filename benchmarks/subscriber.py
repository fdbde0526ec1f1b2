"""A minimal subscriber: it records the time of each body, and answers 200.

Posts to `/dead` are never answered; `GET /relieve` closes their connections. `GET /` returns the bodies since the last
such request: the time of each, by its `new_stage`, which numbers the events; `GET /count` returns how many they are.
`PORT=... python -m benchmarks.subscriber`.
"""

import asyncio
import os
import re
import time
from typing import cast

import orjson
import uvloop

DONE = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"

_length = re.compile(rb"\r\ncontent-length: (\d+)", re.IGNORECASE).search
_number = re.compile(rb'"new_stage":"(\d+)"').search

seen: dict[str, float] = {}
dead: list[asyncio.WriteTransport] = []


class Connection(asyncio.Protocol):
    """One keep-alive connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first request."""
        self.transport = cast(asyncio.WriteTransport, transport)
        self.received = b""

    def data_received(self, data: bytes) -> None:
        """Answer a complete request."""
        self.received += data
        end = self.received.find(b"\r\n\r\n")
        length = _length(self.received, 0, end + 2) if end > 0 else None
        if end < 0 or (length and len(self.received) < end + 4 + int(length[1])):
            return
        request, self.received = self.received, b""
        self._answer(request)

    def _answer(self, request: bytes) -> None:
        if request.startswith(b"POST /dead"):
            dead.append(self.transport)
        elif request.startswith(b"GET /relieve"):
            while dead:
                dead.pop().abort()
            self.transport.write(DONE)
        elif request.startswith(b"GET /count"):
            body = b"%d" % len(seen)
            self.transport.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
        elif request.startswith(b"GET"):
            body = orjson.dumps(seen)
            seen.clear()
            self.transport.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
        else:
            found = _number(request)
            seen[found[1].decode() if found else ""] = time.time()
            self.transport.write(DONE)


async def _main() -> None:
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", int(os.environ["PORT"]))
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(_main())

"""A load generator: each keep-alive connection sends the next request as soon as the last one is answered."""

import asyncio
import itertools
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self, cast

import orjson
import uvloop

CONNECTIONS = 32
WARM_UP_SECONDS = 0.4
PATIENCE = 30.0

_content_length = re.compile(rb"\r\ncontent-length: (\d+)", re.IGNORECASE).search


class Refused(Exception):
    """A response was neither 200 nor 204, so the run is invalid."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a run: responses per second, all responses including the warm-up, and latency quantiles in ms."""

    rate: float
    total: int
    p50: float
    p99: float


def post(path: str, headers: dict[str, str], body: bytes) -> bytes:
    """Return the bytes of a POST of JSON."""
    return request("POST", path, {"Content-Type": "application/json", **headers}, body)


def request(method: str, path: str, headers: dict[str, str], body: bytes = b"") -> bytes:
    """Return the bytes of a request."""
    own = {"Host": "127.0.0.1", "Content-Length": str(len(body))}
    head = "".join(f"{name}: {value}\r\n" for name, value in {**own, **headers}.items())
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body


def run(port: int, requests: Sequence[bytes], seconds: float, connections: int = CONNECTIONS) -> Result:
    """Send requests to a port repeatedly, from a separate process; raise `Refused`."""
    texts = [request.decode() for request in requests]
    order = orjson.dumps({"port": port, "seconds": seconds, "requests": texts, "connections": connections})
    done = subprocess.run(
        [sys.executable, "-m", __name__], input=order, stdout=subprocess.PIPE, check=True, timeout=seconds + PATIENCE
    )
    seen = orjson.loads(done.stdout)
    if seen["refusal"]:
        raise Refused(f"{seen['statuses']}, such as {seen['refusal']}")
    return Result(seen["rate"], seen["total"], seen["p50"], seen["p99"])


@dataclass(slots=True)
class Run:
    """State shared by all connections. A response counts if it arrives between `begin` and `end`."""

    requests: Iterator[bytes]
    begin: float
    end: float
    times: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    refusal: str = ""

    @classmethod
    def of(cls, requests: Sequence[bytes], seconds: float) -> Self:
        """Return the state of a run that begins after the warm-up."""
        begin = time.perf_counter() + WARM_UP_SECONDS
        return cls(itertools.cycle(requests), begin, begin + seconds)

    def note(self, answer: bytes, sent: float, now: float) -> None:
        """Count a response."""
        status = answer[9:12]
        self.statuses[status.decode()] += 1
        if status not in (b"200", b"204"):
            self.refusal = answer.decode()
        if self.begin <= now < self.end:
            self.times.append(now - sent)

    def seen(self) -> bytes:
        """Return the counts as JSON."""
        times = sorted(self.times)
        return orjson.dumps(
            {
                "rate": len(times) / (self.end - self.begin),
                "total": self.statuses.total(),
                "p50": 1000 * times[len(times) // 2],
                "p99": 1000 * times[len(times) * 99 // 100],
                "statuses": self.statuses,
                "refusal": self.refusal,
            }
        )


class Connection(asyncio.Protocol):
    """One keep-alive connection; `ended` is set when its last request is answered."""

    def __init__(self, run: Run) -> None:
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._run = run
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the first request."""
        self._transport = cast(asyncio.WriteTransport, transport)
        self._send()

    def data_received(self, data: bytes) -> None:
        """Send the next request after a complete response."""
        self._received += data
        if not _is_whole(self._received):
            return
        now = time.perf_counter()
        self._run.note(self._received, self._sent, now)
        self._received = b""
        if now < self._run.end:
            self._send()
        else:
            self.ended.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail the run when the server closed the connection."""
        if not self.ended.done():
            self.ended.set_exception(exc or ConnectionError("The server closed a connection."))

    def _send(self) -> None:
        self._sent = time.perf_counter()
        self._transport.write(next(self._run.requests))


def _is_whole(answer: bytes) -> bool:
    end = answer.find(b"\r\n\r\n")
    if answer[9:12] == b"204":
        return end >= 0
    length = _content_length(answer, 0, max(end, 0))
    return length is not None and len(answer) >= end + 4 + int(length[1])


async def _main() -> None:
    order = orjson.loads(sys.stdin.buffer.read())
    run, loop = (
        Run.of([request.encode() for request in order["requests"]], order["seconds"]),
        asyncio.get_running_loop(),
    )
    made = [
        await loop.create_connection(lambda: Connection(run), "127.0.0.1", order["port"])
        for _ in range(order["connections"])
    ]
    await asyncio.gather(*(connection.ended for _, connection in made))
    sys.stdout.buffer.write(run.seen())


if __name__ == "__main__":
    uvloop.run(_main())

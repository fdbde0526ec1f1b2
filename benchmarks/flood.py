"""A sender of documents that were never read before: connections that each send the next as soon as one is answered.

It is a process of its own, takes what to send from its input, and ends when its input does.
"""

import asyncio
import itertools
import sys
from collections.abc import Iterator

import orjson

from benchmarks.load import post

MOST_SECONDS = 120


async def _send(port: int, requests: Iterator[bytes]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for request in requests:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        await reader.readexactly(int(length))


def _requests(texts: list[str], headers: dict[str, str]) -> Iterator[bytes]:
    for number, text in enumerate(itertools.cycle(texts)):
        yield post("/graphql", headers, orjson.dumps({"query": f"{text} #{number}"}))


async def _main() -> None:
    order = orjson.loads(sys.stdin.buffer.readline())
    requests = _requests(order["texts"], order["headers"])
    senders = [asyncio.create_task(_send(order["port"], requests)) for _ in range(order["senders"])]
    ended = asyncio.get_running_loop().run_in_executor(None, sys.stdin.buffer.read)
    await asyncio.wait([*senders, ended], timeout=MOST_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    for sender in senders:
        sender.cancel()
    await asyncio.wait(senders)


if __name__ == "__main__":
    asyncio.run(_main())

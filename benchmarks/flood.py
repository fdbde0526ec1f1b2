"""A sender of a flood: each connection sends the next request as soon as the last one is answered.

It runs as a separate process, reads the requests from its input, and ends when its input ends. `NUMBER` in a request is
replaced by a new number of seven digits each time, so that no request is repeated.
"""

import asyncio
import itertools
import sys
from collections.abc import Iterator

import orjson

from benchmarks.load import request

MOST_SECONDS = 120
NUMBER = "@number@"


async def _send(port: int, requests: Iterator[bytes]) -> None:
    while True:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            for each in requests:
                writer.write(each)
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = head.partition(b"content-length:")[2].partition(b"\r\n")[0]
                await reader.readexactly(int(length or 0))
                if b"connection: close" in head:
                    break
        finally:
            writer.close()


def _requests(kinds: list[tuple[str, str, dict[str, str], str]]) -> Iterator[bytes]:
    for number, (method, path, headers, body) in enumerate(itertools.cycle(kinds)):
        told = {name: value.replace(NUMBER, f"{number:07}") for name, value in headers.items()}
        yield request(method, path, told, body.replace(NUMBER, f"{number:07}").encode())


async def _main() -> None:
    order = orjson.loads(sys.stdin.buffer.readline())
    requests = _requests(order["requests"])
    senders = [asyncio.create_task(_send(order["port"], requests)) for _ in range(order["senders"])]
    ended = asyncio.get_running_loop().run_in_executor(None, sys.stdin.buffer.read)
    await asyncio.wait([*senders, ended], timeout=MOST_SECONDS, return_when=asyncio.FIRST_COMPLETED)
    for sender in senders:
        sender.cancel()
    await asyncio.wait(senders)


if __name__ == "__main__":
    asyncio.run(_main())

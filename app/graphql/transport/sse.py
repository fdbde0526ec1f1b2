"""Operations over server-sent events: the distinct connections of https://github.com/enisdenjo/graphql-sse."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import orjson
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from app.graphql.transport.requests import EVENT_STREAM
from app.graphql.transport.streams import Piece, Refused
from app.jobs.live import Stopping

HEADERS = [
    (b"content-type", f"{EVENT_STREAM}; charset=utf-8".encode()),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]
KEEP_ALIVE = b":\n\n"
COMPLETE = b"event: complete\ndata:\n\n"


class EventStream:
    """An ASGI application that streams the results of one operation.

    It ends when the client disconnects. When the process stops, it ends without `complete`, so that clients reconnect.
    """

    def __init__(self, pieces: AsyncGenerator[Piece | None, None]) -> None:
        self._pieces = pieces

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer."""
        try:
            async with asyncio.TaskGroup() as tasks:
                waiting = tasks.create_task(_wait_until_gone(receive))
                await self._send_all(send)
                waiting.cancel()
        except* ClientDisconnect:
            pass

    async def _send_all(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        async with aclosing(self._blocks()) as blocks:
            async for block in blocks:
                await send({"type": "http.response.body", "body": block, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _blocks(self) -> AsyncGenerator[bytes, None]:
        try:
            async with aclosing(self._pieces):
                async for piece in self._pieces:
                    yield _write(piece) if piece else KEEP_ALIVE
        except Stopping:
            return
        except Refused as refused:
            yield _write(Piece({"errors": refused.errors}))
        yield COMPLETE


async def _wait_until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    raise ClientDisconnect


def _write(piece: Piece) -> bytes:
    id = b"" if piece.id is None else b"id: %d\n" % piece.id
    return b"event: next\n%sdata: %s\n\n" % (id, orjson.dumps(piece.result))

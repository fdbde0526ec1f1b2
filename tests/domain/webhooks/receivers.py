"""A local subscriber that stores the posts and answers as configured."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web

from tests.waiting import until, within

PATIENCE_SECONDS = 30


@dataclass(frozen=True)
class Post:
    """A received request; header names are lower case."""

    path: str
    headers: dict[str, str]
    raw: bytes
    at: float

    @property
    def id(self) -> str:
        """Return the webhook-id."""
        return self.headers["webhook-id"]

    @property
    def attempt(self) -> int:
        """Return the number of the attempt."""
        return int(self.headers["webhook-attempt"])

    @property
    def body(self) -> Any:
        """Return the parsed JSON body."""
        return orjson.loads(self.raw)


Respond = Callable[[Post], web.Response | Awaitable[web.Response]]


def ok(_: Post) -> web.Response:
    """Answer 200."""
    return web.Response(text="ok")


def status(code: int, **headers: str) -> Respond:
    """Return a function that answers with a status."""
    return lambda _: web.Response(status=code, headers=headers)


class Held:
    """Answers after its release."""

    def __init__(self) -> None:
        self.go = asyncio.Event()

    async def __call__(self, _: Post) -> web.Response:
        await within("the test to let it go on", self.go.wait())
        return web.Response()


class HeldFor(Held):
    """Delays only the posts of one contact."""

    def __init__(self, contact_id: int) -> None:
        super().__init__()
        self._contact_id = contact_id

    async def __call__(self, post: Post) -> web.Response:
        return await super().__call__(post) if post.body["contact_id"] == self._contact_id else web.Response()


@dataclass
class Receiver:
    """A subscriber. `posts` are the received posts, `most` the maximum in flight; `respond` answers the next ones."""

    url: str = ""
    respond: Respond = ok
    posts: list[Post] = field(default_factory=list)
    busy: int = 0
    most: int = 0

    def to(self, path: str) -> list[Post]:
        """Return the posts to one path."""
        return [post for post in self.posts if post.path == path]

    async def expect(self, count: int, path: str | None = None) -> list[Post]:
        """Wait until `count` posts have arrived; return all."""
        await until(lambda: len(self.posts if path is None else self.to(path)) >= count)
        return self.posts if path is None else self.to(path)

    async def handle(self, request: web.Request) -> web.Response:
        """Store a request and answer it."""
        headers = {name.lower(): value for name, value in request.headers.items()}
        post = Post(request.path, headers, await request.read(), asyncio.get_running_loop().time())
        self.posts.append(post)
        self.busy += 1
        self.most = max(self.most, self.busy)
        try:
            answer = self.respond(post)
            return answer if isinstance(answer, web.Response) else await answer
        finally:
            self.busy -= 1


@asynccontextmanager
async def receiving() -> AsyncGenerator[Receiver]:
    """Listen on a local port."""
    receiver = Receiver()
    server = web.Server(receiver.handle)
    runner = web.ServerRunner(server, shutdown_timeout=0.01)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        receiver.url = site.name
        yield receiver
    finally:
        await runner.cleanup()

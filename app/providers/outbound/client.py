"""HTTP client for URLs of users and of carriers."""

import asyncio
import contextlib
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache, partial

from app.domain.webhooks.errors import InvalidUrl
from app.domain.webhooks.poster import PostError, Reply
from app.providers.outbound.addresses import Network
from app.providers.outbound.answer import BODY_KEPT, Answer, read_retry_after
from app.providers.outbound.connection import Connection
from app.providers.outbound.failure import ExchangeFailed
from app.providers.outbound.guard import Guard
from app.providers.outbound.limit import limited
from app.providers.outbound.pool import Pool
from app.providers.outbound.resolver import Resolver
from app.providers.outbound.target import Target

CONNECT_TIMEOUT = 5.0
TIMEOUT = 15.0
PHASES = 3
"""The look-up, the connection with its handshake, and the answer: each may take its equal share of the time."""

IDLE_LIMIT = 15.0
IDLE_CONNECTIONS = 256
ADDRESSES_TRIED = 3
BODILESS = frozenset({"GET", "DELETE"})

Resolve = Callable[[str], Awaitable[Sequence[str]]]
"""Returns the addresses of a host, the best first; none for an unknown host."""


class HttpClient:
    """Calls servers over HTTP/1.1 and keeps connections; the `Poster` of the worker.

    A name is looked up once for a request, every address must be allowed, and the one that was checked is the one
    connected to: Host, SNI and certificate stay those of the URL. Redirects are not followed, proxies of the
    environment are not used, and nothing that was written is written again: callers decide when to retry.
    `timeout` is for the whole exchange: the look-up takes at most `connect_timeout` and a third of it, connection and
    handshake the same, and the answer may take the rest: at least a third, also after this process was blocked.
    """

    def __init__(
        self,
        allow_http: bool,
        allow_networks: Sequence[Network],
        connect_timeout: float = CONNECT_TIMEOUT,
        timeout: float = TIMEOUT,
        resolve: Resolve | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._guard = Guard(allow_http, allow_networks)
        self._connect_timeout = connect_timeout
        self._timeout = timeout
        self._resolver = Resolver()
        self._resolve = resolve or self._resolver.look_up
        self._ssl_context = ssl_context or _trusting_public_roots()
        self._pool = Pool(IDLE_LIMIT, IDLE_CONNECTIONS)

    def check(self, url: str) -> str:
        """Return the normalized URL; raise `InvalidUrl` when it can never be posted to."""
        return self._guard.check(url)

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Reply:
        """Post the body once; raise `ValueError` for headers with a line break or characters outside ASCII."""
        return await self._send(url, partial(_request, "POST", headers=headers, body=body), self._timeout, BODY_KEPT)

    async def get(self, url: str, headers: Mapping[str, str], seconds: float, kept: int) -> Reply:
        """Fetch at most `kept` bytes of a URL within `seconds`, with the same checks as for posts."""
        return await self.send("GET", url, headers, seconds=seconds, kept=kept)

    async def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes = b"",
        *,
        seconds: float | None = None,
        kept: int = BODY_KEPT,
    ) -> Reply:
        """Send one request, within `seconds` or the usual timeout; return at most `kept` bytes of the response."""
        write = partial(_request, method, headers=headers, body=body)
        return await self._send(url, write, self._timeout if seconds is None else seconds, kept)

    async def _send(self, url: str, write: Callable[[Target], bytes], seconds: float, kept: int) -> Reply:
        started = time.perf_counter()
        connection: Connection | None = None
        try:
            target = self._guard.read(url)
            request = write(target)
            connection = await self._acquire(target, min(seconds / PHASES, self._connect_timeout))
            left = max(seconds - (time.perf_counter() - started), seconds / PHASES)
            answer = await connection.exchange(request, left, kept)
        except (InvalidUrl, ExchangeFailed) as failure:
            error = failure.error if isinstance(failure, ExchangeFailed) else PostError.invalid_url
            return Reply(None, error, connection.address if connection else "", time.perf_counter() - started)
        self._release(connection, answer)
        return _reply(answer, connection.address, time.perf_counter() - started)

    async def close(self) -> None:
        """Close all idle connections."""
        self._pool.close()
        await self._resolver.close()
        await asyncio.sleep(0)

    async def _acquire(self, target: Target, seconds: float) -> Connection:
        addresses = [target.host] if target.is_address else await self._look_up(target, seconds)
        if not all(map(self._guard.allows, addresses)):
            raise ExchangeFailed(PostError.refused_address)
        for address in addresses:
            if connection := self._pool.take((target.origin, address)):
                return connection
        return await self._connect(target, addresses[:ADDRESSES_TRIED], seconds)

    def _release(self, connection: Connection, answer: Answer) -> None:
        if answer.is_reusable:
            self._pool.keep(connection, answer.idle_limit)
        else:
            connection.abort()

    async def _look_up(self, target: Target, seconds: float) -> Sequence[str]:
        try:
            async with limited(seconds):
                addresses = await self._resolve(target.host)
        except OSError:
            addresses = ()
        if not addresses:
            raise ExchangeFailed(PostError.dns)
        return addresses

    async def _connect(self, target: Target, addresses: Sequence[str], seconds: float) -> Connection:
        try:
            async with limited(seconds):
                for address in addresses[:-1]:
                    with contextlib.suppress(OSError):
                        return await self._connect_to(target, address)
                return await self._connect_to(target, addresses[-1])
        except ssl.SSLError:
            raise ExchangeFailed(PostError.tls) from None
        except OSError:
            raise ExchangeFailed(PostError.connect) from None

    async def _connect_to(self, target: Target, address: str) -> Connection:
        _, connection = await asyncio.get_running_loop().create_connection(
            lambda: Connection((target.origin, address)),
            address,
            target.port,
            ssl=self._ssl_context if target.secure else None,
            server_hostname=target.host if target.secure else None,
        )
        return connection


@cache
def _trusting_public_roots() -> ssl.SSLContext:
    return ssl.create_default_context()


def _request(method: str, target: Target, *, headers: Mapping[str, str], body: bytes) -> bytes:
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
    if not lines.count("\r") == lines.count("\n") == len(headers):
        raise ValueError("a header holds a line break")
    length = "" if method in BODILESS else f"content-length: {len(body)}\r\n"
    return f"{method}{target.head}{lines}{length}\r\n".encode("ascii") + body


def _reply(answer: Answer, address: str, duration: float) -> Reply:
    headers = answer.headers
    retry_after = headers.get("retry-after")
    wait = None if retry_after is None else read_retry_after(retry_after)
    return Reply(answer.status, "", address, duration, headers, answer.body, wait)

"""In development, refuses requests for hosts other than loopback."""

from collections.abc import Awaitable

from starlette.types import ASGIApp, Receive, Scope, Send

from app.domain.kernel.errors import InvalidHost
from app.settings.base_url import is_loopback_authority

NAMES = (b"host", b"x-forwarded-host")


class LoopbackOnly:
    """ASGI middleware of a service in development: requests for other hosts raise `InvalidHost`.

    It stops DNS rebinding and public proxies, whose requests carry their own host name.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Handle requests for a loopback host."""
        if scope["type"] == "lifespan":
            return self._app(scope, receive, send)
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name in NAMES]
        foreign = [host for host in hosts if not is_loopback_authority(host)]
        if not foreign:
            return self._app(scope, receive, send)
        if scope["type"] == "http":
            raise InvalidHost(host=foreign[0])
        return _refuse_handshake(InvalidHost(host=foreign[0]), receive, send)


async def _refuse_handshake(error: InvalidHost, receive: Receive, send: Send) -> None:
    await receive()
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "websocket.http.response.start", "status": error.status, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": str(error).encode()})

"""Security headers of all responses: no sniffing, no framing, no caching, no referrer."""

from collections.abc import Awaitable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

DEFAULTS = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"frame-ancestors 'none'"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
)
HTTPS_ONLY = (b"strict-transport-security", b"max-age=31536000")


class SafeHeaders:
    """ASGI middleware that adds missing security headers; over https also HSTS for a year."""

    def __init__(self, app: ASGIApp, *, https: bool) -> None:
        self._app = app
        self._headers = (*DEFAULTS, HTTPS_ONLY) if https else DEFAULTS

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Handle a request and add the missing headers to its response."""
        if scope["type"] != "http":
            return self._app(scope, receive, send)

        def complete(message: Message) -> Awaitable[None]:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message.get("headers", ())}
                added = [header for header in self._headers if header[0] not in present]
                message["headers"] = [*message.get("headers", ()), *added]
            return send(message)

        return self._app(scope, receive, complete)

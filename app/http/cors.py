"""Endpoints open to pages of all origins, without cookies (CORS)."""

from collections.abc import Awaitable, Callable, Sequence

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.routing import CountedRoute

Endpoint = Callable[[Request], Awaitable[Response]]

HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "WWW-Authenticate, Retry-After, X-Request-Id, Mcp-Session-Id",
}
PREFLIGHT = {
    "Access-Control-Allow-Headers": "*, Authorization",
    "Access-Control-Max-Age": "86400",
}


class SharedRoute(CountedRoute):
    """A route with CORS headers on every response, errors included."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request and add the CORS headers."""

        async def send_shared(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await super().handle(scope, receive, send_shared)


def shared(path: str, methods: Sequence[str], endpoint: Callable[[Request], Awaitable[ASGIApp]]) -> SharedRoute:
    """Return a route that all origins may call without cookies, with its preflight."""
    preflight = {**PREFLIGHT, "Access-Control-Allow-Methods": ", ".join(methods)}

    async def answer(request: Request) -> ASGIApp:
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=preflight)
        return await endpoint(request)

    return SharedRoute(path, answer, methods=[*methods, "OPTIONS"])

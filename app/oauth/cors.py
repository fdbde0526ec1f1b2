"""Endpoints that pages of every site may call: no cookie opens them."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.graphql.routing import CountedRoute

Endpoint = Callable[[Request], Awaitable[Response]]

HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "WWW-Authenticate, Retry-After, X-Request-Id",
}
PREFLIGHT = {
    **HEADERS,
    "Access-Control-Allow-Headers": "*, Authorization",
    "Access-Control-Max-Age": "86400",
}


def shared(path: str, method: str, endpoint: Endpoint) -> Route:
    """Return a route that every site may call, without credentials of its user."""

    async def answer(request: Request) -> Response:
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={**PREFLIGHT, "Access-Control-Allow-Methods": method})
        response = await endpoint(request)
        response.headers.update(HEADERS)
        return response

    return CountedRoute(path, answer, methods=[method, "OPTIONS"])

"""Response envelope and error mapping of the REST surface."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

import orjson
import structlog
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.domain.kernel.errors import (
    BodyTooLarge,
    Conflict,
    DomainError,
    InsufficientScope,
    InvalidInput,
    InvalidJson,
    MethodNotAllowed,
    NotFound,
    RateLimited,
    Unauthenticated,
    Unavailable,
    UnsupportedMediaType,
)
from app.http.errors import headers_of, is_away, translate
from app.telemetry.requests import route_of

log = structlog.get_logger(__name__)

Page = Callable[[Request], Response | None]
Refuse = Callable[[Request, Exception], Awaitable[Response]]
"""Returns the response to an exception."""

_CODES = {
    error.status: error.code
    for error in (
        InvalidJson,
        Unauthenticated,
        InsufficientScope,
        NotFound,
        Conflict,
        BodyTooLarge,
        UnsupportedMediaType,
        RateLimited,
        Unavailable,
    )
}


def success(value: Any, envelope: str) -> Any:
    """Return the value of an operation in the envelope that its endpoint declares (`Envelope` in `surface.graphql`)."""
    match envelope:
        case "bare":
            return value
        case "page":
            return {"success": True, "data": value["nodes"]}
        case "user":
            return {"success": True, "user": value}
        case _:
            return {"success": True, "data": value}


def failure(error: DomainError, request_id: str, docs_url: str) -> dict[str, Any]:
    """Return an error in the envelope; `docs_url` is the page of error codes."""
    return _failure(error.code, str(error), request_id, docs_url, error.field)


def install(app: Starlette, docs_url: str, challenge: str = "Bearer", missing: Page = lambda _: None) -> Refuse:
    """Answer every error of an application in the envelope; return the function that does.

    `challenge` is the `WWW-Authenticate` header for a request without a key. `missing` may return a page for a path
    without an endpoint, instead of the envelope.

    Add the middleware that sets `scope["state"]["request_id"]` after this call, so that it runs first.
    """

    async def refuse(request: Request, cause: Exception) -> Response:
        if isinstance(cause, HTTPException) and cause.status_code == 404 and (page := missing(request)):
            return page
        status, code, text, headers = _read(request, cause)
        field = cause.field if isinstance(cause, DomainError) else None
        body = _failure(code, text, request_id(request.scope), docs_url, field)
        if status == 401:
            headers["WWW-Authenticate"] = headers.get("WWW-Authenticate") or challenge
        return Response(orjson.dumps(body), status, headers, "application/json")

    app.router.redirect_slashes = False  # a redirect would have no envelope
    for kind in (DomainError, HTTPException, Exception):
        app.add_exception_handler(kind, refuse)
    app.add_middleware(UncaughtErrors, refuse=refuse)
    return refuse


class UncaughtErrors:
    """Answers and logs uncaught exceptions, and answers the requests that the stop of the process cancels.

    Starlette raises an exception again after calling its handler, and the server would log it a second time; this
    middleware stops it. After the response has begun only the server can abort it, so the exception is raised.
    """

    def __init__(self, app: ASGIApp, refuse: Refuse) -> None:
        self._app = app
        self._refuse = refuse

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        def watched(message: Message) -> Awaitable[None]:
            nonlocal begun
            begun = True
            return send(message)

        try:
            await self._app(scope, receive, watched)
        except ClientDisconnect:
            return  # the client has disconnected
        except (Exception, asyncio.CancelledError) as cause:
            if begun or scope["type"] != "http":
                raise
            told = _noted(scope, cause) if isinstance(cause, Exception) else Unavailable()
            response = await self._refuse(Request(scope), told)
            await response(scope, receive, send)


def _noted(scope: Scope, cause: Exception) -> Exception:
    """Log an uncaught exception, unless it refuses the request; return the exception to answer."""
    if isinstance(cause, DomainError) or is_away(cause):
        return translate(cause)
    log.error("request_failed", route=route_of(scope), request_id=request_id(scope), exc_info=cause)
    return cause


def request_id(scope: Scope) -> str:
    """Return the id of a request; assign one if it has none."""
    return scope.setdefault("state", {}).setdefault("request_id", str(uuid4()))


def _failure(code: str, text: str, request_id: str, docs_url: str, field: str | None) -> dict[str, Any]:
    docs = f"{docs_url}#{code}"
    body = {"success": False, "error": text, "error_code": code, "docs": docs, "request_id": request_id}
    return body | {"field": field} if field else body


def _read(request: Request, cause: Exception) -> tuple[int, str, str, dict[str, str]]:
    """Return status, code, text and headers of the response to an exception."""
    match cause:
        case HTTPException(status_code=404):
            return (
                404,
                NotFound.code,
                f"There is no endpoint {request.scope['path']}. /openapi.json lists the endpoints.",
                {},
            )
        case HTTPException(status_code=405):
            return _read_error(_method_not_allowed(request))
        case HTTPException():
            default = DomainError.code if cause.status_code >= 500 else InvalidInput.code
            code = _CODES.get(cause.status_code, default)
            return cause.status_code, code, cause.detail or code, dict(cause.headers or {})
        case DomainError():
            return _read_error(cause)
        case _:
            return _read_error(DomainError())


def _read_error(error: DomainError) -> tuple[int, str, str, dict[str, str]]:
    return error.status, error.code, str(error), headers_of(error)


def _method_not_allowed(request: Request) -> MethodNotAllowed:
    routes = [route for route in request.app.routes if isinstance(route, Route)]
    found = [route for route in routes if route.matches(request.scope)[0] is Match.PARTIAL]
    methods = sorted({method for route in found for method in route.methods or ()})
    return MethodNotAllowed(path=request.scope["path"], method=request.method, allowed=", ".join(methods))

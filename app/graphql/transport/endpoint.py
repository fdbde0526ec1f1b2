"""The contract over HTTP, after https://graphql.github.io/graphql-over-http/draft."""

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any

import orjson
from graphql import ExecutionResult, GraphQLError, OperationType
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from app.domain.kernel.errors import DomainError, MethodNotAllowed, Unauthenticated
from app.domain.kernel.unit_of_work import Actor
from app.graphql.execution.errors import InvalidGraphql, extensions, find_cause
from app.graphql.execution.execute import Executor, Run
from app.graphql.execution.parameters import Parameters
from app.graphql.transport.requests import EVENT_STREAM, accepts_events, choose_media_type, read
from app.graphql.transport.sse import EventStream
from app.graphql.transport.streams import Refused, Streams
from app.graphql.transport.websocket import Connection
from app.http.anonymous import find_actor
from app.http.body import JSON
from app.http.challenges import challenge
from app.http.client_address import address_of
from app.http.errors import headers_of, translate
from app.http.identity import Identify, request_id
from app.http.routing import CountedRoute
from app.http.sessions import Origin

PATH = "/graphql"

EXPLORER = "/docs/graphql"
"""The page that a browser without a document is sent to."""


def routes(executor: Executor, identify: Identify, docs_url: str) -> list[BaseRoute]:
    """Return the routes of the contract; `docs_url` is the page of error codes."""
    endpoint = Endpoint(executor, identify, docs_url)
    return [CountedRoute(PATH, endpoint, name="graphql"), WebSocketRoute(PATH, endpoint.converse)]


class Endpoint:
    """An ASGI application that runs the operations of requests, and serves WebSockets."""

    def __init__(self, executor: Executor, identify: Identify, docs_url: str) -> None:
        self._executor = executor
        self._identify = identify
        self._docs_url = docs_url
        resources = executor.services.oauth.resources
        self._challenge = challenge(resources, resources.api)
        self._streams = Streams(executor, docs_url)
        self._origin = Origin.of(executor.services.settings)
        self._sockets = Counter[int]()
        self._is_open = executor.services.settings.in_development

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        request = Request(scope, receive)
        response = RedirectResponse(EXPLORER, 303) if _explores(request) else await self._answer(request)
        await response(scope, receive, send)

    async def converse(self, socket: WebSocket) -> None:
        """Serve a WebSocket until it closes."""
        identify = partial(self._find_actor, address_of(socket))
        await Connection(socket, self._streams, identify, self._origin, self._sockets).serve()

    async def _answer(self, request: Request) -> ASGIApp:
        media_type = JSON
        try:
            if request.method not in ("GET", "POST"):
                raise MethodNotAllowed(path=PATH, method=request.method, allowed="GET, POST")
            media_type = choose_media_type(request.headers.get("accept", ""))
            return await self._run(request, media_type)
        except ClientDisconnect:
            raise
        except Exception as cause:
            error = translate(cause)
            media_type = JSON if media_type == EVENT_STREAM else media_type
            body = {"errors": [{"message": str(error), "extensions": self._extensions(error)}]}
            return _respond(body, media_type, error.status, headers_of(error, self._challenge))

    async def _run(self, request: Request, media_type: str) -> ASGIApp:
        address = address_of(request)
        actor = await self._find_actor(address, request.headers)
        asked = await self._read(request, actor)
        if media_type == EVENT_STREAM:
            return await self._stream(request, asked)
        prepared = await self._executor.read(asked, actor, address)
        if prepared.kind is OperationType.SUBSCRIPTION and accepts_events(request.headers.get("accept", "")):
            return await self._stream(request, asked)
        run = Run(prepared, asked.variables, actor, asked.operation_name, as_text=True)
        result, replayed = await self._executor.run(run)
        if result.errors:
            return self._refuse(result, result.errors, media_type)
        return _respond({"data": result.data}, media_type, 200, {"Idempotent-Replayed": "true"} if replayed else {})

    async def _find_actor(self, address: str, headers: Mapping[str, str]) -> Actor | None:
        """Return the actor of a request; a request without a valid key or session counts for its address.

        The contract requires a credential, so outside development such a request is not parsed further.
        Raises `Unauthenticated` or `RateLimited`.
        """
        actor = await find_actor(self._executor.services.limits, self._identify, headers, address)
        if actor is None and not self._is_open:
            raise Unauthenticated(reason="A key is needed.")
        return actor

    async def _stream(self, request: Request, asked: Parameters) -> ASGIApp:
        address = address_of(request)
        try:
            pieces = await self._streams.open(asked, partial(self._find_actor, address, request.headers), address)
        except Refused as refused:
            cause = refused.cause
            return _respond({"errors": refused.errors}, JSON, cause.status, headers_of(cause, self._challenge))
        return EventStream(pieces)

    async def _read(self, request: Request, actor: Actor | None) -> Parameters:
        try:
            return await read(request)
        except DomainError:
            await self._executor.admit(frozenset(), actor)
            raise

    def _refuse(self, result: ExecutionResult, errors: list[GraphQLError], media_type: str) -> Response:
        causes = [find_cause(error) for error in errors]
        body: dict[str, Any] = {
            "errors": [
                {**error.formatted, "message": str(cause), "extensions": self._extensions(cause)}
                for error, cause in zip(errors, causes, strict=True)
            ]
        }
        if result.data is not None or any(error.path for error in errors):
            return _respond({**body, "data": result.data}, media_type, 200, {})
        # The operation did not begin, or did not commit. What is wrong with a document has no status in plain JSON.
        tolerated = media_type == JSON and isinstance(causes[0], InvalidGraphql)
        return _respond(
            body, media_type, 200 if tolerated else causes[0].status, headers_of(causes[0], self._challenge)
        )

    def _extensions(self, error: DomainError) -> dict[str, Any]:
        return extensions(error, self._docs_url, request_id())


def _respond(body: dict[str, Any], media_type: str, status: int, headers: dict[str, str]) -> Response:
    return Response(orjson.dumps(body), status, headers, f"{media_type}; charset=utf-8")


def _explores(request: Request) -> bool:
    """Tell whether a person opened the address in a browser, without a document to run."""
    return (
        request.method == "GET"
        and "query" not in request.query_params
        and "text/html" in request.headers.get("accept", "")
    )

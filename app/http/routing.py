"""Routes whose metrics are labelled by their path, and a short way to those that need nothing of the framework."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send


class CountedRoute(Route):
    """A route that stores itself in the scope, where the request metrics read its path."""

    def __init__(self, path: str, *args: Any, **options: Any) -> None:
        super().__init__(path, *args, **options)
        self._beginning = path.partition("{")[0]

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match a request, and add the route to the scope.

        Routes are tried one after another, so that most requests fail at most routes: a comparison of the fixed part of
        the path is cheaper than Starlette's pattern.
        """
        if not scope["path"].startswith(self._beginning) and not scope.get("root_path"):
            return Match.NONE, {}
        match, found = super().matches(scope)
        return match, {**found, "route": self} if match is Match.FULL else found


class PlainRoute(CountedRoute):
    """A route whose endpoint needs nothing of the framework: neither its middleware nor its handlers of exceptions."""

    def __init__(self, path: str, respond: Callable[[Request], Awaitable[Response]], **options: Any) -> None:
        super().__init__(path, _Endpoint(respond), **options)
        self.respond = respond


class ShortWay:
    """ASGI middleware that passes the requests of plain routes directly to their endpoints.

    The middleware of the framework and its search among all routes take longer than reading a small request. `guard`
    returns an endpoint with the middleware that it needs. The application has all its routes before the first request.
    """

    def __init__(self, app: Starlette, guard: Callable[[ASGIApp], ASGIApp]) -> None:
        self._app = app
        self._serve = guard(_serve)

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Handle a request."""
        if scope["type"] != "http" or scope.get("root_path") or not self._match(scope):
            return self._app(scope, receive, send)
        return self._serve(scope, receive, send)

    def _match(self, scope: Scope) -> bool:
        """Return whether a plain route serves a request; add it and its parameters to the scope."""
        path: str = scope["path"]
        if route := self._fixed.get((scope["method"], path)):
            scope["route"] = route
            return True
        for route in self._candidates.get(_beginning_of(path), ()):
            match, found = route.matches(scope)
            if match is Match.FULL:
                if is_plain := isinstance(route, PlainRoute):
                    scope.update(found)
                return is_plain
        return False

    @cached_property
    def _fixed(self) -> Mapping[tuple[str, str], Route]:
        """Return the plain routes without a placeholder by method and path."""
        return dict(self._find_fixed())

    @cached_property
    def _candidates(self) -> Mapping[str, Sequence[BaseRoute]]:
        """Return the routes that may match a path, by its beginning, where a plain route has a placeholder."""
        beginnings = {_beginning_of(route.path) for route in self._plain_routes() if "{" in route.path}
        return {
            beginning: [route for route in self._app.routes if _may_match(route, beginning)] for beginning in beginnings
        }

    def _find_fixed(self) -> Iterator[tuple[tuple[str, str], Route]]:
        """Return plain routes by method and path, without those that another route comes before."""
        for route in self._plain_routes():
            for method in route.methods or () if "{" not in route.path else ():
                scope = {"type": "http", "method": method, "path": route.path}
                if next(each for each in self._app.routes if each.matches(scope)[0] is Match.FULL) is route:
                    yield (method, route.path), route

    def _plain_routes(self) -> Sequence[PlainRoute]:
        return [route for route in self._app.routes if isinstance(route, PlainRoute)]


class _Endpoint:
    """A function of a request as an ASGI application, which Starlette does not wrap."""

    def __init__(self, respond: Callable[[Request], Awaitable[Response]]) -> None:
        self._respond = respond

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._respond(Request(scope, receive))
        await response(scope, receive, send)


def _beginning_of(path: str) -> str:
    """Return the first part of a path."""
    return path[1:].partition("/")[0]


def _may_match(route: BaseRoute, beginning: str) -> bool:
    """Return whether a route may match a path with this first part."""
    if not isinstance(route, Route):
        return True
    own = _beginning_of(route.path)
    return own == beginning or "{" in own


def _serve(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
    return scope["route"].app(scope, receive, send)

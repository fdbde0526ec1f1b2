"""Routes whose metrics are labelled by their path, and a short way to those with a fixed path."""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from starlette.applications import Starlette
from starlette.routing import Match, Route
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


class ShortWay:
    """ASGI middleware that passes the requests of plain routes with fixed paths directly to their endpoints.

    The middleware of the framework and its search among all routes take longer than reading a small request. `guard`
    returns an endpoint with the middleware that it needs. The application has all its routes before the first request.
    """

    def __init__(self, app: Starlette, guard: Callable[[ASGIApp], ASGIApp]) -> None:
        self._app = app
        self._serve = guard(_serve)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        route = self._routes.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        if route is None or scope.get("root_path"):
            await self._app(scope, receive, send)
        else:
            scope["route"] = route
            await self._serve(scope, receive, send)

    @cached_property
    def _routes(self) -> dict[tuple[str, str], Route]:
        return dict(self._find_routes())

    def _find_routes(self) -> Iterator[tuple[tuple[str, str], Route]]:
        """Return the plain routes by method and path, without those that another route comes before."""
        for route in self._app.routes:
            if isinstance(route, PlainRoute) and "{" not in route.path:
                for method in route.methods or ():
                    scope = {"type": "http", "method": method, "path": route.path}
                    if next(each for each in self._app.routes if each.matches(scope)[0] is Match.FULL) is route:
                        yield (method, route.path), route


async def _serve(scope: Scope, receive: Receive, send: Send) -> None:
    await scope["route"].app(scope, receive, send)

"""Routes whose metrics are labelled by their path."""

from typing import Any

from starlette.routing import Match, Route
from starlette.types import Scope


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

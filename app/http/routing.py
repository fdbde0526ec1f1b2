"""Routes whose metrics are labelled by their path."""

from starlette.routing import Match, Route
from starlette.types import Scope


class CountedRoute(Route):
    """A route that stores itself in the scope, where the request metrics read its path."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match a request, and add the route to the scope."""
        match, found = super().matches(scope)
        return match, {**found, "route": self} if match is Match.FULL else found

"""Routes whose requests are counted under their path."""

from starlette.routing import Match, Route
from starlette.types import Scope


class CountedRoute(Route):
    """A route that leaves itself in the scope, where the request figures look for its path."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match as a route does, and say which one matched."""
        match, found = super().matches(scope)
        return match, {**found, "route": self} if match is Match.FULL else found

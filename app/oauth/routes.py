"""Every route of the authorization server."""

from starlette.routing import Route

from app.bootstrap import Services
from app.graphql.identity import Identity
from app.graphql.routing import CountedRoute
from app.oauth import authorize, endpoints, guard, metadata
from app.oauth.authorize import Authorize
from app.oauth.browser import Browser


def routes(services: Services, browser: Browser, identity: Identity) -> list[Route]:
    """Return the page of consent, the endpoints of applications, what is published, and the tool server's gate."""
    page = Authorize(services, browser)
    return [
        CountedRoute(authorize.PATH, page.show, methods=["GET"]),
        CountedRoute(authorize.PATH, page.decide, methods=["POST"]),
        *endpoints.routes(services),
        *metadata.routes(services.oauth),
        *guard.routes(identity, services.limits, services.oauth.resources),
    ]

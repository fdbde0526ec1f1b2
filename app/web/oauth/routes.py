"""The routes of the authorization server."""

from starlette.routing import Route

from app.http.identity import Identity
from app.http.routing import CountedRoute
from app.services import Services
from app.web.browser import Browser
from app.web.oauth import authorize, endpoints, metadata, tool_server
from app.web.oauth.authorize import Authorize


def routes(services: Services, browser: Browser, identity: Identity) -> list[Route]:
    """Return the routes of the consent page, the endpoints, the metadata, and the tool server."""
    page = Authorize(services, browser)
    return [
        CountedRoute(authorize.PATH, page.show, methods=["GET"]),
        CountedRoute(authorize.PATH, page.decide, methods=["POST"]),
        *endpoints.routes(services),
        *metadata.routes(services.oauth),
        *tool_server.routes(identity, services.limits, services.oauth.resources),
    ]

"""The routes of the authorization server."""

from starlette.routing import Route

from app.http.routing import CountedRoute
from app.services import Services
from app.web.browser import Browser
from app.web.oauth import authorize, endpoints, metadata
from app.web.oauth.authorize import Authorize


def routes(services: Services, browser: Browser) -> list[Route]:
    """Return the routes of the consent page, the endpoints and the metadata."""
    page = Authorize(services, browser)
    return [
        CountedRoute(authorize.PATH, page.show, methods=["GET"]),
        CountedRoute(authorize.PATH, page.decide, methods=["POST"]),
        *endpoints.routes(services),
        *metadata.routes(services.oauth),
    ]

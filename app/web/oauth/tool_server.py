"""Authentication of the tool server's routes, with the challenge that names the authorization server."""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.domain.kernel.errors import Unauthenticated
from app.domain.oauth.resources import WORKING_SET, Resources
from app.http.anonymous import find_actor
from app.http.challenges import challenge
from app.http.client_address import address_of
from app.http.cors import shared
from app.http.identity import Identity
from app.providers.limits import Limits

PATHS = ("/mcp", "/mcp/")
METHODS = ("GET", "POST", "DELETE")


def routes(identity: Identity, limits: Limits, resources: Resources) -> list[Route]:
    """Return the routes of the tool server."""

    async def pass_on(request: Request) -> Response:
        if await find_actor(limits, identity.resolve_for_tools, request.headers, address_of(request)) is None:
            header = challenge(resources, resources.tools, scopes=WORKING_SET)
            raise Unauthenticated(reason="The tool server needs a sign-in.", challenge=header)
        raise HTTPException(404)

    return [shared(path, METHODS, pass_on) for path in PATHS]

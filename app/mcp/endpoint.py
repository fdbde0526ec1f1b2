"""The route of the tool server: authentication, admission, and the call of the protocol."""

from collections import deque
from functools import partial

from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.domain.kernel.errors import InsufficientScope, MethodNotAllowed, Unauthenticated
from app.domain.kernel.unit_of_work import Actor
from app.domain.oauth.resources import WORKING_SET, join
from app.graphql.execution.execute import Executor
from app.http.anonymous import find_actor
from app.http.body import read_body
from app.http.challenges import challenge
from app.http.client_address import address_of
from app.http.cors import shared
from app.http.identity import Identity
from app.mcp.places import Places
from app.mcp.requests import Asked, NotOneMessage, read
from app.mcp.running import Running
from app.mcp.selection import Caller, read_selection
from app.mcp.tools import Needs
from app.services import Services

PATHS = ("/mcp", "/mcp/")
METHODS = ("GET", "POST", "DELETE")
MAX_BODY = 256 * 1024


class Endpoint:
    """Admits requests and passes them to the protocol's implementation."""

    def __init__(self, services: Services, executor: Executor, identity: Identity, running: Running) -> None:
        self._limits = services.limits
        self._resources = services.oauth.resources
        self._has_sessions = services.settings.mcp_sessions == "on"
        self._places = Places(services.settings)
        self._executor = executor
        self._identity = identity
        self._running = running

    async def __call__(self, request: Request) -> ASGIApp:
        """Return the application that answers a request.

        Raises `Unauthenticated`, `InsufficientScope`, `RateLimited`, `BodyTooLarge` and `InvalidInput`.
        """
        actor = await self._authenticate(request)
        self._places.check(request.headers)
        if request.method != "POST" and not self._has_sessions:
            raise MethodNotAllowed(path=request.scope["path"], method=request.method, allowed="POST")
        selection = read_selection(request.headers, request.query_params)
        body = await read_body(request, MAX_BODY) if request.method == "POST" else bytearray()
        try:
            asked = read(body) if request.method == "POST" else Asked()
        except NotOneMessage as fault:
            await self._executor.admit(frozenset(), actor)
            return fault.response
        protocol = await self._running.get()
        await self._admit(protocol.tools.find_needs(asked), actor, len(body))
        renew = partial(self._identity.resolve_for_tools, request.headers)
        caller = Caller(actor, selection, asked.subject, renew, asked.id)
        return partial(_hand_over, protocol.app, caller, bytes(body))

    async def _authenticate(self, request: Request) -> Actor:
        """Return the actor of a request before anything of its body is read."""
        identify = self._identity.resolve_for_tools
        actor = await find_actor(self._limits, identify, request.headers, address_of(request))
        if actor is None:
            header = challenge(self._resources, self._resources.tools, scopes=WORKING_SET)
            raise Unauthenticated(reason="The tool server needs a sign-in.", challenge=header)
        return actor

    async def _admit(self, needs: Needs, actor: Actor, size: int) -> None:
        """Count a request; raise `InsufficientScope`, with all scopes that the next token should have."""
        try:
            await self._executor.admit(needs.scopes, actor, is_query=needs.reads_only)
        except InsufficientScope as refused:
            header = challenge(
                self._resources,
                self._resources.tools,
                error=refused.code,
                reason=f"This needs {join(needs.scopes)}.",
                scopes=needs.scopes | actor.scopes,
            )
            raise InsufficientScope(scope=refused.facts["scope"], challenge=header) from None
        await self._executor.count_size(size, actor)


def routes(services: Services, executor: Executor, identity: Identity, running: Running) -> list[Route]:
    """Return the routes of the tool server, with and without a final slash."""
    endpoint = Endpoint(services, executor, identity, running)
    return [shared(path, METHODS, endpoint) for path in PATHS]


async def _hand_over(app: ASGIApp, caller: Caller, body: bytes, scope: Scope, receive: Receive, send: Send) -> None:
    """Run the protocol's implementation on a request whose body was read.

    It compares headers with the body, so spaces around their values are removed (RFC 9110, 5.5).
    """
    unread: deque[Message] = deque([{"type": "http.request", "body": body, "more_body": False}])

    async def receive_again() -> Message:
        return unread.popleft() if unread else await receive()

    scope.setdefault("state", {})["caller"] = caller
    headers = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
    await app({**scope, "headers": headers}, receive_again, send)

"""The protocol's transport over HTTP, whose sessions belong to the credential that opened them."""

from functools import partial
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, AuthorizationContext
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

from app.mcp.endpoint import MAX_BODY
from app.mcp.requests import INVALID_REQUEST, NotOneMessage
from app.mcp.selection import Caller

IDLE_SECONDS = 30 * 60
MAX_SESSIONS = 50
"""The maximum number of sessions of an account in a process. Above it, a new one ends the oldest."""


REPEATED = "Another request of the session has this id. Give each request an id of its own."
"""The library would answer only one of two requests with the same id, and leave the other one open."""


class Transport(StreamableHTTPSessionManager):
    """Serves requests of authenticated callers, with sessions or without."""

    def __init__(self, server: Server[Any], *, has_sessions: bool) -> None:
        super().__init__(
            server,
            stateless=not has_sessions,
            session_idle_timeout=IDLE_SECONDS,
            max_request_body_size=MAX_BODY,
        )
        self._under_way: set[tuple[str, str, str | int]] = set()

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request. The same credential must send all requests of a session; to others it does not exist."""
        caller: Caller = scope["state"]["caller"]
        actor = caller.actor
        token = AccessToken(
            token="", client_id=actor.label, scopes=sorted(actor.scopes), subject=str(actor.account_id), claims={}
        )
        app = partial(self.asgi_app, {**scope, "user": AuthenticatedUser(token)}, receive, send)
        session = Headers(scope=scope).get("mcp-session-id")
        if session is None or caller.request_id is None:
            await app()
            return
        request = actor.label, session, caller.request_id
        if request in self._under_way:
            await NotOneMessage(INVALID_REQUEST, REPEATED, caller.request_id).response(scope, receive, send)
            return
        self._under_way.add(request)
        try:
            await app()
        finally:
            self._under_way.discard(request)

    def _admit_session(self, requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        account = requestor["subject"] if requestor else None
        own = [id for id, owner in self._session_owners.items() if owner["subject"] == account]
        for oldest in own[: max(len(own) + 1 - MAX_SESSIONS, 0)]:
            self._end(oldest)
        return super()._admit_session(requestor)

    def _end(self, session_id: str) -> None:
        """Forget a session, and stop its task."""
        self._session_owners.pop(session_id, None)
        transport = self._server_instances.pop(session_id, None)
        if transport and transport.idle_scope:
            transport.idle_scope.cancel()

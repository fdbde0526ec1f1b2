"""The protocol's transport over HTTP, whose sessions belong to the credential that opened them."""

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, AuthorizationContext, authorization_context
from mcp.server.auth.provider import AccessToken
from mcp.server.lowlevel import Server
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from sse_starlette.sse import AppStatus
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from app.domain.kernel.unit_of_work import Actor
from app.mcp.endpoint import MAX_BODY
from app.mcp.requests import INTERNAL_ERROR, INVALID_REQUEST, NotOneMessage
from app.mcp.selection import Caller

IDLE_SECONDS = 30 * 60
MAX_SESSIONS = 50
"""The maximum number of sessions of an account in a process. Above it, a new one ends the oldest without a request."""

INITIALIZE = "initialize"
UNOPENED = (
    "This server keeps sessions, and the request has no header Mcp-Session-Id. Send the request initialize first, "
    "without that header, and send the header Mcp-Session-Id of its answer with each further request."
)
ENDED = (
    "There is no such session of this credential, or it has ended. Begin a new one: send the request initialize "
    "without the header Mcp-Session-Id, and send that of its answer with each further request."
)

STOPPING = "The process stops, and opens no further stream. Send the request again."

REPEATED = "Another request of the session has this id. Give each request an id of its own."
"""The library would answer only one of two requests with the same id, and leave the other one open."""

PATIENCE_SECONDS = 1.0
"""The longest wait of a request for the end of one with the same id: a client gets the answer a little before that."""

ANSWER = re.compile(rb'"(?:result|error)":')
"""The part of a body that makes it an answer, and not the progress of a call."""

AppStatus.disable_automatic_graceful_drain()  # after a signal, it would cut the responses of running calls

Request = tuple[str, str, str]
"""The credential, the session and the id of a request."""


@dataclass(slots=True)
class UnderWay:
    """A request that has not ended; `is_answered` once the client may have its answer."""

    is_answered: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class Transport(StreamableHTTPSessionManager):
    """Serves requests of authenticated callers, with sessions or without.

    `stopping` is set when the process stops, and in the state of each request.
    """

    def __init__(self, server: Server[Any], *, has_sessions: bool) -> None:
        super().__init__(
            server,
            stateless=not has_sessions,
            session_idle_timeout=IDLE_SECONDS,
            max_request_body_size=MAX_BODY,
        )
        self.stopping = asyncio.Event()
        self._under_way = dict[Request, UnderWay]()

    def stop(self) -> None:
        """End the open streams of sessions, and refuse new ones; running calls go on."""
        self.stopping.set()
        for session in self._server_instances.values():
            session.close_standalone_sse_stream()

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request. The same credential must send all requests of a session; to others it does not exist."""
        caller: Caller = scope["state"]["caller"]
        scope["state"]["stopping"] = self.stopping
        app = partial(self.asgi_app, {**scope, "user": user_of(caller.actor)}, receive)
        headers = Headers(scope=scope)
        session = headers.get("mcp-session-id")
        if fault := self._find_fault(scope["method"], headers, caller):
            await fault.response(scope, receive, send)
            return
        if session is None or caller.request_id is None:
            await app(send)
            return
        request = caller.actor.label, session, str(caller.request_id)
        if not await self._becomes_free(request):
            await NotOneMessage(INVALID_REQUEST, REPEATED, caller.request_id).response(scope, receive, send)
            return
        under_way = self._under_way[request] = UnderWay()

        async def note(message: Message) -> None:
            under_way.is_answered |= ANSWER.search(message.get("body", b"")) is not None
            await send(message)

        try:
            await app(note)
        finally:
            del self._under_way[request]
            under_way.ended.set()

    async def _becomes_free(self, request: Request) -> bool:
        """Wait for the end of an answered request with the same id; return False where there is one that goes on."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                while (earlier := self._under_way.get(request)) and earlier.is_answered:
                    await earlier.ended.wait()
        return request not in self._under_way

    def _find_fault(self, method: str, headers: Headers, caller: Caller) -> NotOneMessage | None:
        """Return the error of a request that names no session, or one that its credential does not have.

        A process that stops opens no stream.
        """
        if method == "GET" and self.stopping.is_set():
            return NotOneMessage(INTERNAL_ERROR, STOPPING, status=503)
        version, session = headers.get("mcp-protocol-version"), headers.get("mcp-session-id")
        if self.stateless or not (version is None or version in HANDSHAKE_PROTOCOL_VERSIONS):
            return None
        if session is None:
            is_opening = caller.admitted[0] == INITIALIZE
            return None if is_opening else NotOneMessage(INVALID_REQUEST, UNOPENED, caller.request_id)
        owner = self._session_owners.get(session)
        is_own = owner is not None and owner == authorization_context(user_of(caller.actor))
        return None if is_own else NotOneMessage(INVALID_REQUEST, ENDED, caller.request_id, status=404)

    def _admit_session(self, requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        account = requestor["subject"] if requestor else None
        own = [id for id, owner in self._session_owners.items() if owner["subject"] == account]
        busy = {session for _, session, _ in self._under_way}
        excess = max(len(own) + 1 - MAX_SESSIONS, 0)
        spare = [id for id in own if id not in busy][:excess]
        if len(spare) < excess:
            return None  # the library answers 503
        for oldest in spare:
            self._end(oldest)
        return super()._admit_session(requestor)

    def _end(self, session_id: str) -> None:
        """Forget a session, and stop its task."""
        self._session_owners.pop(session_id, None)
        transport = self._server_instances.pop(session_id, None)
        if transport and transport.idle_scope:
            transport.idle_scope.cancel()


def user_of(actor: Actor) -> AuthenticatedUser:
    """Return an actor as the library knows it."""
    scopes, account = sorted(actor.scopes), str(actor.account_id)
    return AuthenticatedUser(AccessToken(token="", client_id=actor.label, scopes=scopes, subject=account, claims={}))

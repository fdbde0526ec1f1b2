"""Callbacks of carriers: receipts and inbound messages, on two paths for each carrier."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.domain.carriers.carrier import BadSignature, CallbackRequest, Carrier, MalformedCallback, StaleSignature
from app.domain.carriers.connections import OpenConnection
from app.domain.kernel.errors import DomainError, NotFound
from app.http.anonymous import count_anonymous
from app.http.body import read_body
from app.http.client_address import address_of
from app.http.errors import translate
from app.http.pace import mark_authenticated
from app.http.routing import PlainRoute
from app.rest.arguments import MAX_BODY
from app.services import Services

Process = Callable[[Carrier, CallbackRequest], Awaitable[None]]

log = structlog.get_logger(__name__)


class UnsignedCallback(DomainError):
    """A callback is not signed by the carrier in its path."""

    code = "unsigned_callback"
    status = 403
    message = "The callback is not signed by the carrier {carrier}."


class UnreadableCallback(DomainError):
    """A carrier's callback lacks a required field, or has an invalid one. It is stored unchanged."""

    code = "unreadable_callback"
    status = 422
    message = "The callback of the carrier {carrier} cannot be read, and was stored for inspection: {reason}"


def routes(services: Services) -> list[Route]:
    """Return the routes that carriers call."""
    callbacks = CarrierCallbacks(services)
    return [
        PlainRoute("/carriers/{carrier}/status", callbacks.receive_receipts, methods=["POST"]),
        PlainRoute("/carriers/{carrier}/inbound", callbacks.receive_messages, methods=["POST"]),
    ]


class CarrierCallbacks:
    """Processes callbacks. A signed one is never lost: it is applied, or stored as unmatched."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def receive_receipts(self, request: Request) -> Response:
        """Process receipts."""

        async def process(carrier: Carrier, callback: CallbackRequest) -> None:
            for receipt in carrier.parse_receipts(callback):
                await self._services.receipts.receive(carrier.key, receipt)

        return await self._process(request, "status", process)

    async def receive_messages(self, request: Request) -> Response:
        """Process inbound messages."""

        async def process(carrier: Carrier, callback: CallbackRequest) -> None:
            for message in carrier.parse_inbound(callback):
                await self._services.inbox.receive(carrier.key, message)

        return await self._process(request, "inbound", process)

    async def _process(self, request: Request, kind: str, process: Process) -> Response:
        """Answer as the carrier expects after the commit, so that it does not repeat the callback."""
        key = request.path_params["carrier"]
        connection = await self._services.connections.get(key)
        if connection is None:
            raise NotFound(kind="carrier", id=key)
        callback = CallbackRequest(self._url(request), dict(request.headers), bytes(await read_body(request, MAX_BODY)))
        try:
            async with connection:
                await self._verify_and_process(connection, callback, process)
        except BadSignature as refusal:
            self._note(connection, callback, refusal)
            await count_anonymous(self._services.limits, address_of(request))
            raise UnsignedCallback(carrier=key) from None
        except MalformedCallback as fault:
            await self._services.inbox.keep_unmatched(key, kind, str(fault), _payload(callback))
            raise UnreadableCallback(carrier=key, reason=fault) from None
        except Exception as cause:
            raise translate(cause) from cause
        mark_authenticated()
        self._note(connection, callback)
        answer = connection.carrier.callback_answer
        return Response(answer.body, answer.status, media_type=answer.content_type)

    async def _verify_and_process(
        self, connection: OpenConnection, callback: CallbackRequest, process: Process
    ) -> None:
        """Process a callback that is signed with the credentials of now, or with the ones before the last rotation."""
        *carriers, last = connection.verifiers(self._services.clock.now())
        for carrier in carriers:
            with suppress(BadSignature):
                return await process(carrier, callback)
        return await process(last, callback)

    def _note(self, connection: OpenConnection, callback: CallbackRequest, refusal: BadSignature | None = None) -> None:
        """Count a callback; the time that it states counts only where the carrier has signed it."""
        is_signed = refusal is None
        has_time = is_signed or isinstance(refusal, StaleSignature)
        signed_at = connection.carrier.find_signing_time(callback) if has_time else None
        self._services.health.note_callback(connection.row.key, signed_at, is_signed=is_signed)

    def _url(self, request: Request) -> str:
        """Return the URL that the carrier called: the configured address, because a proxy may have changed Host."""
        scope, query = request.scope, request.scope["query_string"]
        address = f"{self._services.settings.public_url}{scope['path']}"
        return f"{address}?{query.decode('latin-1')}" if query else address


def _payload(callback: CallbackRequest) -> dict[str, Any]:
    return {"url": callback.url, "body": callback.body.decode("utf-8", "replace").replace("\x00", "\ufffd")}

"""Callbacks of carriers: receipts, and what people text. One pair of paths for each carrier."""

from collections.abc import Awaitable, Callable
from typing import Any

import structlog
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.domain.kernel.errors import DomainError, NotFound
from app.domain.messages.carrier import BadSignature, CallbackRequest, Carrier, MalformedCallback
from app.http.anonymous import count_anonymous
from app.http.body import read_body
from app.http.client_address import address_of
from app.http.errors import translate
from app.http.pace import recognise
from app.http.routing import CountedRoute
from app.rest.arguments import MAX_BODY
from app.services import Services

log = structlog.get_logger(__name__)


class UnsignedCallback(DomainError):
    """A callback did not bear the signature of the carrier that it says it comes from."""

    code = "unsigned_callback"
    status = 403
    message = "The callback is not signed by the carrier {carrier}."


class UnreadableCallback(DomainError):
    """A carrier's callback lacked what it must carry; it was kept as it came."""

    code = "unreadable_callback"
    status = 422
    message = "The callback of the carrier {carrier} cannot be read, and was kept for people to look at: {reason}"


def routes(services: Services) -> list[Route]:
    """Return the routes that carriers call."""
    callbacks = CarrierCallbacks(services)
    return [
        CountedRoute("/carriers/{carrier}/status", callbacks.take_receipts, methods=["POST"]),
        CountedRoute("/carriers/{carrier}/inbound", callbacks.take_texts, methods=["POST"]),
    ]


class CarrierCallbacks:
    """Takes what carriers tell us. What is signed is never lost: it is applied, parked or kept as unmatched."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def take_receipts(self, request: Request) -> Response:
        """Take reports on messages of ours."""

        async def take(carrier: Carrier, callback: CallbackRequest) -> None:
            for receipt in carrier.parse_receipts(callback):
                await self._services.receipts.receive(carrier.name, receipt)

        return await self._take(request, "status", take)

    async def take_texts(self, request: Request) -> Response:
        """Take what people text to our numbers."""

        async def take(carrier: Carrier, callback: CallbackRequest) -> None:
            for text in carrier.parse_inbound(callback):
                await self._services.inbox.receive(carrier.name, text)

        return await self._take(request, "inbound", take)

    async def _take(
        self, request: Request, kind: str, take: Callable[[Carrier, CallbackRequest], Awaitable[None]]
    ) -> Response:
        """Answer 204 once what the carrier says is kept, so that it need not say it again."""
        carrier = self._services.carriers.get(request.path_params["carrier"])
        if carrier is None:
            raise NotFound(kind="carrier", id=request.path_params["carrier"])
        callback = CallbackRequest(_url(request), dict(request.headers), bytes(await read_body(request, MAX_BODY)))
        try:
            await take(carrier, callback)
        except BadSignature:
            await count_anonymous(self._services.limits, address_of(request))
            raise UnsignedCallback(carrier=carrier.name) from None
        except MalformedCallback as fault:
            await self._services.inbox.keep_unmatched(carrier.name, kind, str(fault), _payload(callback))
            raise UnreadableCallback(carrier=carrier.name, reason=fault) from None
        except Exception as cause:
            raise translate(cause) from cause
        recognise()
        return Response(status_code=204)


def _url(request: Request) -> str:
    """Return the address that was called, as `request.url` would in ten times the time."""
    scope, query = request.scope, request.scope["query_string"]
    address = f"{scope['scheme']}://{request.headers.get('host', '')}{scope['path']}"
    return f"{address}?{query.decode('latin-1')}" if query else address


def _payload(callback: CallbackRequest) -> dict[str, Any]:
    return {"url": callback.url, "body": callback.body.decode("utf-8", "replace").replace("\x00", "\ufffd")}

"""The addresses at which tools of accounts post their events."""

from contextlib import suppress

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.domain.integrations.intake import MAX_BODY
from app.domain.integrations.scheduling import Delivery
from app.domain.kernel.errors import NotFound, RateLimited, Unavailable
from app.domain.kernel.unit_of_work import Actor
from app.http.anonymous import anonymous_actor, count_anonymous
from app.http.body import read_body
from app.http.client_address import address_of
from app.http.errors import RETRY_SECONDS, translate
from app.http.pace import mark_authenticated
from app.http.routing import CountedRoute
from app.providers.rate_limits import Policy
from app.services import Services

POLICY = Policy("integration events", 600)
"""The events that an address takes in a minute, also those that a CRM signs for an account that is not connected."""

TEXTS = Policy("texts of CRMs", 6000)
"""The texts that a CRM asks for in a minute; its notices of changed contacts, which may be many, do not count."""


def routes(services: Services) -> list[Route]:
    """Return the route of all addresses."""
    addresses = Addresses(services)
    return [
        CountedRoute("/integrations/{kind}/{address}", addresses.receive, methods=["POST"]),
        CountedRoute("/integrations/{kind}", addresses.receive_notice, methods=["POST"]),
    ]


class Addresses:
    """The addresses of scheduling tools and inbound webhooks, and one for each kind of CRM."""

    def __init__(self, services: Services) -> None:
        self._limits = services.limits
        self._intake = services.intake

    async def receive_notice(self, request: Request) -> Response:
        """Receive an event of a CRM, which repeats only those that are answered with 429."""
        try:
            return await self.receive(request)
        except Exception as cause:
            error = translate(cause)
            raise RateLimited(seconds=RETRY_SECONDS) if isinstance(error, Unavailable) else error from cause

    async def receive(self, request: Request) -> Response:
        """Receive an event: one without a valid proof is counted for its sender before anything is written."""
        kind, path = request.path_params["kind"], request.path_params.get("address", "")
        delivery = Delivery(dict(request.headers), bytes(await read_body(request, MAX_BODY)))
        sender = address_of(request)
        try:
            address = self._intake.find_address(kind, delivery, path)
            integration = await self._intake.find(kind, address)
        except NotFound as error:
            return await self._ignore(kind, delivery, sender, error)
        if not self._intake.is_signed(integration, delivery):
            await count_anonymous(self._limits, sender)
            await self._intake.refuse(integration)
        is_text = self._intake.asks_for_text(integration, delivery)
        await self._count(TEXTS if is_text else POLICY, integration.actor)
        event_id = await self._intake.receive(integration, delivery)
        return _answer({"status": "duplicate"} if event_id is None else {"status": "accepted", "id": event_id})

    async def _ignore(self, kind: str, delivery: Delivery, sender: str, error: NotFound) -> Response:
        """Answer an event that a CRM signs for an account that is not connected; raise `error` for any other."""
        if not self._intake.is_of_nobody(kind, delivery):
            await count_anonymous(self._limits, sender)
            raise error
        with suppress(NotFound):  # an event about an agency names no account
            sender = self._intake.find_address(kind, delivery)
        await self._count(POLICY, anonymous_actor(sender))
        return _answer({"status": "ignored"})

    async def _count(self, policy: Policy, sender: Actor) -> None:
        """Count a signed event; raise `RateLimited`."""
        mark_authenticated()
        standing = await self._limits.rates.take(policy, sender)
        if standing and standing.wait:
            raise RateLimited(seconds=standing.wait)


def _answer(body: dict[str, object]) -> Response:
    return Response(orjson.dumps(body), 202, media_type="application/json")

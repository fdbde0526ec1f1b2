"""The addresses at which tools of accounts post their events."""

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.domain.integrations.intake import MAX_BODY
from app.domain.integrations.scheduling import Delivery
from app.domain.kernel.errors import NotFound, RateLimited, Unavailable
from app.http.anonymous import count_anonymous
from app.http.body import read_body
from app.http.client_address import address_of
from app.http.errors import RETRY_SECONDS, translate
from app.http.pace import mark_authenticated
from app.http.routing import CountedRoute
from app.providers.rate_limits import Policy
from app.services import Services

POLICY = Policy("integration events", 600)
"""The events that an address takes in a minute."""

TEXTS = Policy("texts of CRMs", 6000)
"""The texts that a CRM asks for in a minute; its notices of changed contacts, which may be many, do not count."""


def routes(services: Services) -> list[Route]:
    """Return the route of all addresses."""

    async def receive_notice(request: Request) -> Response:
        """Receive an event of a CRM, which repeats only those that are answered with 429."""
        try:
            return await receive(request)
        except Exception as cause:
            error = translate(cause)
            raise RateLimited(seconds=RETRY_SECONDS) if isinstance(error, Unavailable) else error from cause

    async def receive(request: Request) -> Response:
        kind = request.path_params["kind"]
        delivery = Delivery(dict(request.headers), bytes(await read_body(request, MAX_BODY)))
        try:
            address = request.path_params.get("address") or services.intake.find_address(kind, delivery)
            integration = await services.intake.find(kind, address)
        except NotFound:
            if services.intake.is_of_nobody(kind, delivery):
                mark_authenticated()
                return Response(b'{"status":"ignored"}', 202, media_type="application/json")
            await count_anonymous(services.limits, address_of(request))
            raise
        if not services.intake.is_signed(integration, delivery):
            await count_anonymous(services.limits, address_of(request))
            await services.intake.refuse(integration)
        mark_authenticated()
        policy = TEXTS if services.intake.asks_for_text(integration, delivery) else POLICY
        standing = await services.limits.rates.take(policy, integration.actor)
        if standing and standing.wait:
            raise RateLimited(seconds=standing.wait)
        event_id = await services.intake.receive(integration, delivery)
        body = {"status": "duplicate"} if event_id is None else {"status": "accepted", "id": event_id}
        return Response(orjson.dumps(body), 202, media_type="application/json")

    return [
        CountedRoute("/integrations/{kind}/{address}", receive, methods=["POST"]),
        CountedRoute("/integrations/{kind}", receive_notice, methods=["POST"]),
    ]

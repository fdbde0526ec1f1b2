"""Events of the payment provider."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.domain.payments.gateway import UnsignedPaymentEvent
from app.http.anonymous import count_anonymous
from app.http.body import read_body
from app.http.client_address import address_of
from app.http.errors import translate
from app.http.pace import mark_authenticated
from app.http.routing import CountedRoute
from app.services import Services

PATH, SIGNATURE = "/payments/stripe/webhook", "stripe-signature"
MAX_BODY = 1_000_000


def routes(services: Services) -> list[Route]:
    """Return the route that Stripe calls."""
    return [CountedRoute(PATH, PaymentEvents(services).receive, methods=["POST"])]


class PaymentEvents:
    """Processes events of the payment provider, and answers after the commit; otherwise it sends them again."""

    def __init__(self, services: Services) -> None:
        self._services = services

    async def receive(self, request: Request) -> Response:
        """Process an event."""
        body = bytes(await read_body(request, MAX_BODY))
        try:
            await self._services.payments.receive(body, request.headers.get(SIGNATURE, ""))
        except UnsignedPaymentEvent:
            await count_anonymous(self._services.limits, address_of(request))
            raise
        except Exception as cause:
            raise translate(cause) from cause
        mark_authenticated()
        return Response(status_code=204)

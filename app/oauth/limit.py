"""Holding back who registers clients without end."""

from starlette.requests import Request

from app.bootstrap import Services
from app.domain.kernel.errors import RateLimited
from app.domain.kernel.unit import Actor
from app.providers.networks import networks_of
from app.providers.rates import Policy

REGISTRATIONS = Policy("registrations", 20)
"""How many clients one address may bring in a minute; all addresses together, four times as many."""


async def check_rate(services: Services, request: Request) -> None:
    """Count a client that a stranger brings; raise `RateLimited` where the address brings too many."""
    address = networks_of(request.client.host)[0] if request.client else ""
    standing = await services.limits.rates.take(REGISTRATIONS, Actor(0, frozenset(), address))
    if standing and standing.wait:
        raise RateLimited(seconds=standing.wait)

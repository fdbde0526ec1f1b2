"""Limits how many clients strangers bring: for each network, and for all of them, of which each has a fair share."""

from starlette.requests import Request

from app.domain.kernel.errors import RateLimited
from app.http.client_address import address_of
from app.providers.rate_limits import Policy
from app.services import Services

REGISTRATIONS = Policy("registrations", 20)
"""How many clients one address may bring in a minute; each wider network that it is counted by, four times as many."""

TOTAL = 60
"""How many clients all known networks together may bring in a minute, and all others."""


async def check_rate(services: Services, request: Request) -> None:
    """Count a client that a stranger brings; raise `RateLimited` where the address, its network, or all bring many."""
    seconds = await services.limits.shares.take(REGISTRATIONS, address_of(request), total=TOTAL)
    if seconds:
        raise RateLimited(seconds=seconds)

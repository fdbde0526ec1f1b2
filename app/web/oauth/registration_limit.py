"""Rate limit of client registrations: for each network, and in total with a fair share for each network."""

from starlette.requests import Request

from app.domain.kernel.errors import RateLimited
from app.http.client_address import address_of
from app.providers.rate_limits import Policy
from app.services import Services

REGISTRATIONS = Policy("registrations", 20)
"""Maximum registrations of one address in a minute; four times as many for each wider network."""

TOTAL = 60
"""Maximum registrations of all known networks together in a minute, and of all others."""


async def check_rate(services: Services, request: Request) -> None:
    """Count an anonymous registration; raise `RateLimited` above the limit of the address, a network or the total."""
    seconds = await services.limits.shares.take(REGISTRATIONS, address_of(request), total=TOTAL)
    if seconds:
        raise RateLimited(seconds=seconds)

"""Limits how many clients strangers bring, for each network: none can use up what others may bring."""

from hashlib import sha256

from starlette.requests import Request

from app.bootstrap import Services
from app.domain.kernel.errors import RateLimited
from app.domain.kernel.networks import networks_of
from app.domain.kernel.unit import Actor
from app.providers.rates import Policy

REGISTRATIONS = Policy("registrations", 20)
"""How many clients one address may bring in a minute; the widest network that it is counted by, four times as many."""


async def check_rate(services: Services, request: Request) -> None:
    """Count a client that a stranger brings; raise `RateLimited` where the address, or its network, brings too many."""
    networks = networks_of(request.client.host if request.client else "")
    widest = int.from_bytes(sha256(networks[-1].encode()).digest()[:8])
    standing = await services.limits.rates.take(REGISTRATIONS, Actor(widest, frozenset(), networks[0]))
    if standing and standing.wait:
        raise RateLimited(seconds=standing.wait)

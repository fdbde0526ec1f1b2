"""Rate limits of requests without a valid key or session, by client network."""

from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256

from app.domain.kernel.errors import DomainError, RateLimited
from app.domain.kernel.networks import networks_of
from app.domain.kernel.unit_of_work import Actor
from app.http.identity import Identify
from app.http.pace import mark_authenticated
from app.providers.limits import Limits


async def count_anonymous(limits: Limits, address: str, units: int = 1) -> None:
    """Count an anonymous request of a client address; raise `RateLimited`."""
    if units and (seconds := await limits.shares.take(limits.anonymous, address, units)):
        raise RateLimited(seconds=seconds)


async def find_actor(limits: Limits, identify: Identify, headers: Mapping[str, str], address: str) -> Actor | None:
    """Return the actor of a request; count a request without a valid key or session for its client address.

    Raises the errors of `identify`, and `RateLimited`. A request with an invalid key always gets the error of
    `identify`.
    """
    try:
        actor = await identify(headers)
    except DomainError:
        with suppress(RateLimited):
            await count_anonymous(limits, address)
        raise
    if actor is None:
        await count_anonymous(limits, address)
    else:
        mark_authenticated()
    return actor


def anonymous_actor(address: str) -> Actor:
    """Return the actor that limits per account count an anonymous client by: its narrowest and widest network."""
    networks = networks_of(address)
    widest = int.from_bytes(sha256(networks[-1].encode()).digest()[:8])
    return Actor(widest, frozenset(), networks[0])

"""Requests without a good key or session: counted for the network that they come from."""

from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256

from app.domain.kernel.errors import DomainError, RateLimited
from app.domain.kernel.networks import networks_of
from app.domain.kernel.unit_of_work import Actor
from app.http.identity import Identify
from app.http.pace import recognise
from app.providers.limits import Limits


async def count_stranger(limits: Limits, address: str, units: int = 1) -> None:
    """Count what an address asks for without a key or session; raise `RateLimited`."""
    if units and (seconds := await limits.shares.take(limits.anonymous, address, units)):
        raise RateLimited(seconds=seconds)


async def find_actor(limits: Limits, identify: Identify, headers: Mapping[str, str], address: str) -> Actor | None:
    """Return who asks, as `identify` does; what comes without a good key or session is counted for its address.

    Raises what `identify` raises, and `RateLimited`. Who bears a key that is not good is told so all the same.
    """
    try:
        actor = await identify(headers)
    except DomainError:
        with suppress(RateLimited):
            await count_stranger(limits, address)
        raise
    if actor is None:
        await count_stranger(limits, address)
    else:
        recognise()
    return actor


def stranger(address: str) -> Actor:
    """Return the actor that a stranger counts as where actors are counted: its network, as one key of the widest."""
    networks = networks_of(address)
    widest = int.from_bytes(sha256(networks[-1].encode()).digest()[:8])
    return Actor(widest, frozenset(), networks[0])

"""Delays of sign-in attempts, bounded in number: each keeps a connection and a task."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from app.domain.kernel.networks import GROWTH, networks_of

MAX_HELD = 200
MAX_HELD_OF_NETWORK = 4
"""How many attempts a process holds at once: of all, and of one network. A wider network has `GROWTH` times as many."""


class TooManyHeld(Exception):
    """The process holds as many attempts as it may, of all or of one network."""


@dataclass(frozen=True, slots=True)
class Delays:
    """Holds attempts, and counts those that are held; the total stands under None."""

    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _held: Counter[str | None] = field(default_factory=Counter[str | None])

    @property
    def held(self) -> int:
        """Return how many attempts are held."""
        return self._held[None]

    async def hold(self, address: str, seconds: float) -> None:
        """Hold an attempt from an address of the network; raise `TooManyHeld` where it is one too many."""
        networks = networks_of(address)
        limits = {None: MAX_HELD, **{each: MAX_HELD_OF_NETWORK * GROWTH**n for n, each in enumerate(networks)}}
        if any(self._held[each] >= limit for each, limit in limits.items()):
            raise TooManyHeld
        self._held.update(limits.keys())
        try:
            await self.sleep(seconds)
        finally:
            self._held.subtract(limits.keys())
            for each in limits:
                if not self._held[each]:
                    del self._held[each]

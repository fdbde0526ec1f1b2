"""Delays of sign-in attempts, limited in number because each occupies a connection and a task."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from app.domain.kernel.networks import GROWTH, networks_of

MAX_HELD = 200
MAX_HELD_OF_NETWORK = 4
"""Maximum number of delayed attempts in a process and per network; `GROWTH` times as many per wider network."""


class TooManyHeld(Exception):
    """The maximum number of delayed attempts, in total or of one network, is reached."""


@dataclass(frozen=True, slots=True)
class Delays:
    """Delays attempts and counts those being delayed; the key None holds the total."""

    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    _held: Counter[str | None] = field(default_factory=Counter)

    @property
    def held(self) -> int:
        """Return the number of delayed attempts."""
        return self._held[None]

    async def hold(self, address: str, seconds: float) -> None:
        """Delay an attempt from a client address; raise `TooManyHeld` above the maximum."""
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

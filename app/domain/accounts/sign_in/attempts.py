"""Port to the counters of sign-in attempts."""

from dataclasses import dataclass, field
from secrets import token_hex
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt for an e-mail address, from a client address.

    `browser` is set for a browser that is known for the e-mail address: then attempts are counted for that browser
    only. `id` identifies the attempt, so that its success does not end a wait that another attempt caused.
    """

    kind: str
    email: str
    address: str
    browser: str = ""
    id: str = field(default_factory=lambda: token_hex(8), compare=False)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision on an attempt: refused for `wait` seconds, or allowed after `delay` seconds."""

    wait: float = 0
    delay: float = 0


class Attempts(Protocol):
    """Counts attempts per network, per e-mail address and network, and per e-mail address over all networks.

    An attempt is counted when it begins, so that concurrent guesses are limited too. The count over all networks does
    not refuse a network with few failures for the e-mail address, so that an attacker cannot lock out the user.
    """

    async def begin(self, attempt: Attempt) -> Verdict:
        """Count an attempt, unless it is refused; never raise."""
        ...

    async def succeed(self, attempt: Attempt) -> None:
        """Reset the failures of the network for the e-mail address and uncount this attempt; never raise."""
        ...

    async def withdraw(self, attempt: Attempt) -> None:
        """Uncount an attempt that was not made; never raise."""
        ...

    async def reset(self, attempt: Attempt) -> None:
        """Reset the failures of the network for the e-mail address, without an attempt; never raise."""
        ...

"""The port to the counter of sign-in attempts."""

from dataclasses import dataclass, field
from secrets import token_hex
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt with an e-mail address, from an address of the network.

    `browser` is set for a browser that the user of this e-mail address has signed in with before: then it alone counts.
    `id` tells it from others, so that its end takes no wait away that another one began.
    """

    kind: str
    email: str
    address: str
    browser: str = ""
    id: str = field(default_factory=lambda: token_hex(8), compare=False)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision on an attempt: refused for `wait` seconds, or let through after `delay` seconds."""

    wait: float = 0
    delay: float = 0


class Attempts(Protocol):
    """Counts attempts for each network, for each e-mail address from it, and for each e-mail address from everywhere.

    It counts an attempt when it begins, so that guesses side by side do not slip through together. What is counted for
    an e-mail address from everywhere refuses no network that has failed with it but a few times: strangers can lock
    nobody out.
    """

    async def begin(self, attempt: Attempt) -> Verdict:
        """Count an attempt, unless it is refused; raises nothing."""
        ...

    async def succeed(self, attempt: Attempt) -> None:
        """Forget the failures from this network with the e-mail address, and take this attempt off; raises nothing."""
        ...

    async def withdraw(self, attempt: Attempt) -> None:
        """Take off an attempt that was counted and then not made; raises nothing."""
        ...

    async def forget(self, attempt: Attempt) -> None:
        """Forget the failures from this network with the e-mail address, where no attempt began; raises nothing."""
        ...

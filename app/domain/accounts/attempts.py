"""Holding back who guesses: the port of what counts attempts."""

from typing import Protocol


class Attempts(Protocol):
    """Counts attempts for each e-mail address and for each address of the network, and delays more and more.

    It counts an attempt when it begins, so that guesses side by side do not slip through together.
    """

    async def begin(self, kind: str, email: str, address: str) -> float:
        """Count an attempt and return 0, or return for how many seconds there may be none; raises nothing."""
        ...

    async def succeed(self, kind: str, email: str, address: str) -> None:
        """Forget the failures of the e-mail address, and this attempt of the network's; raises nothing."""
        ...

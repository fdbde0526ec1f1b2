"""Pauses of accounts whose rows other transactions have locked."""

import time
from collections.abc import Iterable

FIRST_SECONDS, LONGEST_SECONDS = 0.02, 2.0


class Pauses:
    """The accounts that a process leaves out of its batches; each consecutive pause of an account is twice as long."""

    def __init__(self) -> None:
        self._pauses: dict[int, tuple[float, float]] = {}

    def begin(self, account_ids: Iterable[int]) -> float:
        """Pause accounts; return the seconds until the first pause ends."""
        seconds = {id: self._next_seconds(id) for id in account_ids}
        now = time.monotonic()
        self._pauses |= {id: (now + each, each) for id, each in seconds.items()}
        return min(seconds.values())

    def end(self, account_ids: Iterable[int]) -> None:
        """End the pauses of accounts whose events were dispatched."""
        if self._pauses:
            for id in account_ids:
                self._pauses.pop(id, None)

    def current(self) -> list[int]:
        """Return the paused accounts."""
        now = time.monotonic()
        return [id for id, (until, _) in self._pauses.items() if until > now]

    def _next_seconds(self, account_id: int) -> float:
        _, last = self._pauses.get(account_id, (0.0, FIRST_SECONDS / 2))
        return min(2 * last, LONGEST_SECONDS)

"""Shares the time of a process between accounts whose pieces of work take unequally long."""

import time
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

ALLOWANCE_SECONDS = 0.25
"""The time by which an account may be ahead of the one that has used least, and still have its turn."""


@dataclass(slots=True)
class TimeShares:
    """Counts the time that the work of each account takes: those that have used least have the next turn.

    An account without work saves no time up: it goes on with as much as the least of those that had work meanwhile.
    """

    timer: Callable[[], float] = time.perf_counter
    _used: dict[int, float] = field(default_factory=dict)
    _least: float = 0.0

    def choose(self, accounts: Collection[int]) -> frozenset[int]:
        """Return those whose turn it is, of the accounts that have work."""
        used = {id: self._time_of(id) for id in accounts}
        self._least = min(used.values(), default=self._least)
        self._used = {id: seconds for id, seconds in self._used.items() if seconds > self._least}
        return frozenset(id for id, seconds in used.items() if seconds <= self._least + ALLOWANCE_SECONDS)

    @contextmanager
    def counted(self, account_id: int) -> Generator[None]:
        """Count the time that a piece of work of an account takes."""
        began = self.timer()
        try:
            yield
        finally:
            self._used[account_id] = self._time_of(account_id) + self.timer() - began

    def _time_of(self, account_id: int) -> float:
        return max(self._used.get(account_id, 0.0), self._least)

"""Counting in the memory of this process, while Redis is away: the same limits, for each process alone."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

MOST = 10_000
"""How many names are known at once; the one that was used least recently is forgotten for another."""

T = TypeVar("T")


class Buckets:
    """Buckets as `Rates` and `Shares` keep them in Redis; amounts are microseconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._full_at: dict[str, int] = {}

    def take(self, costs: Mapping[str, int], window: int) -> int:
        """Spend from each bucket; return 0, or, with nothing spent, how long to wait until all have enough."""
        now = round(self._clock() * 1_000_000)
        after = {name: max(self._full_at.get(name, 0) - now, 0) + cost for name, cost in costs.items()}
        wait = max(after.values()) - window
        if wait > 0:
            return wait
        for name, spent in after.items():
            _keep(self._full_at, name, now + spent)
        return 0


class Failures:
    """Attempts as `RedisAttempts` counts them, but for the counters that a whole e-mail address has from everywhere."""

    def __init__(self, first_ms: int, longest_ms: int) -> None:
        self._first_ms, self._longest_ms = first_ms, longest_ms
        self._known: dict[str, tuple[int, int]] = {}

    def begin(self, free: Mapping[str, int], now_ms: int) -> int:
        """Count an attempt in each counter, which let so many pass; return 0, or, uncounted, how long to wait in ms."""
        wait = max(self._known.get(name, (0, 0))[1] for name in free) - now_ms
        if wait > 0:
            return wait
        for name, passed in free.items():
            count = self._known.get(name, (0, 0))[0] + 1
            added = min(self._first_ms << min(count - passed, 30), self._longest_ms) if count >= passed else 0
            _keep(self._known, name, (count, now_ms + added if added else 0))
        return 0

    def settle(self, names: Sequence[str], forgotten: int) -> None:
        """Forget the first counters, and take an attempt off the others."""
        for name in names[:forgotten]:
            self._known.pop(name, None)
        for name in names[forgotten:]:
            if name in self._known:
                self._known[name] = (max(self._known[name][0] - 1, 0), 0)


def _keep(known: dict[str, T], name: str, value: T) -> None:
    known.pop(name, None)
    known[name] = value
    if len(known) > MOST:
        del known[next(iter(known))]

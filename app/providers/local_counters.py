"""Counting in the memory of this process, while Redis is away: the same limits, for each process alone."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

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

    def __init__(self, first_ms: int, longest_ms: int, forgotten_ms: int) -> None:
        self._first_ms, self._longest_ms, self._forgotten_ms = first_ms, longest_ms, forgotten_ms
        self._known: dict[str, Counted] = {}

    def begin(self, free: Mapping[str, int], now_ms: int, id: str) -> int:
        """Count an attempt in each counter, which let so many pass; return 0, or, uncounted, how long to wait in ms."""
        known = {name: self._find(name, now_ms) for name in free}
        wait = max(each.until for each in known.values()) - now_ms
        if wait > 0:
            return wait
        for name, passed in free.items():
            count = known[name].made + 1
            added = min(self._first_ms << min(count - passed, 30), self._longest_ms) if count >= passed else 0
            until, by = (now_ms + added, id) if added else (known[name].until, known[name].by)
            _keep(self._known, name, Counted(count, now_ms, until, by))
        return 0

    def settle(self, names: Sequence[str], forgotten: int, id: str) -> None:
        """Forget the first counters, and take an attempt off the others, with the wait that it began."""
        for name in names[:forgotten]:
            self._known.pop(name, None)
        for name in names[forgotten:]:
            if name in self._known:
                known = self._known[name]
                until = 0 if known.by == id else known.until
                self._known[name] = known._replace(made=max(known.made - 1, 0), until=until)

    def _find(self, name: str, now_ms: int) -> "Counted":
        known = self._known.get(name)
        return known if known and now_ms - known.at < self._forgotten_ms else Counted(0, now_ms)


class Counted(NamedTuple):
    """Attempts of one counter: how many, when the last one began, and until when the next waits for which of them."""

    made: int
    at: int
    until: int = 0
    by: str = ""


def _keep(known: dict[str, T], name: str, value: T) -> None:
    known.pop(name, None)
    known[name] = value
    if len(known) > MOST:
        del known[next(iter(known))]

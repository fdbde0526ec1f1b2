"""Counters in the memory of this process while Redis is unreachable: the same limits, for each process separately."""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeVar

MOST = 10_000
"""Maximum number of names; the least recently used one is dropped."""

T = TypeVar("T")


class Buckets:
    """The buckets of `Rates` and `Shares`; amounts are microseconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._full_at: dict[str, int] = {}

    def take(self, costs: Mapping[str, int], window: int) -> int:
        """Spend from each bucket and return 0; or spend nothing and return the wait until all have enough."""
        now = round(self._clock() * 1_000_000)
        after = {name: max(self._full_at.get(name, 0) - now, 0) + cost for name, cost in costs.items()}
        wait = max(after.values()) - window
        if wait > 0:
            return wait
        for name, spent in after.items():
            _keep(self._full_at, name, now + spent)
        return 0


class Failures:
    """The counters of `RedisAttempts`, except those of an e-mail address over all networks."""

    def __init__(self, first_ms: int, longest_ms: int, forgotten_ms: int) -> None:
        self._first_ms, self._longest_ms, self._forgotten_ms = first_ms, longest_ms, forgotten_ms
        self._known: dict[str, Counted] = {}

    def begin(self, free: Mapping[str, int], now_ms: int, id: str) -> int:
        """Count an attempt in each counter of `free` and return 0; or do not count it and return the wait in ms."""
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
        """Delete the first counters, and uncount an attempt in the others, with the wait that it caused."""
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
    """One counter: attempts made, the time of the last, and the end of the wait that the attempt `by` caused."""

    made: int
    at: int
    until: int = 0
    by: str = ""


def _keep(known: dict[str, T], name: str, value: T) -> None:
    known.pop(name, None)
    known[name] = value
    if len(known) > MOST:
        del known[next(iter(known))]

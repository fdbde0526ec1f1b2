"""Retry, circuit breaker, notice and lease timings of deliveries."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
UNITS = {"day": DAY, "hour": HOUR, "minute": MINUTE}


@dataclass(frozen=True, slots=True)
class Schedule:
    """The timings of deliveries, in seconds; all are settings, so that a test can run in seconds.

    `waits` are the waits after each failed attempt; a delivery that fails after the last one has failed for good.
    Jitter adds up to a fifth to a wait and never shortens it.
    """

    waits: Sequence[float] = (
        5,
        MINUTE,
        5 * MINUTE,
        30 * MINUTE,
        2 * HOUR,
        5 * HOUR,
        10 * HOUR,
        14 * HOUR,
        20 * HOUR,
        24 * HOUR,
    )
    jitter: float = 0.2
    longest_retry_after: float = 10 * HOUR
    breaker_failures: int = 5
    breaker_waits: Sequence[float] = (30, MINUTE, 2 * MINUTE, 5 * MINUTE, 10 * MINUTE)
    notice_after: Sequence[float] = (HOUR, DAY)
    disable_after: float = 3 * DAY
    disable_failures: int = 10
    lease: float = 15.0

    def wait(self, attempts: int, retry_after: float | None) -> timedelta | None:
        """Return the wait after failed attempt number `attempts`, or None after the last one."""
        if attempts > len(self.waits):
            return None
        planned = self.waits[attempts - 1] * (1 + random.random() * self.jitter)
        return timedelta(seconds=max(planned, min(retry_after or 0, self.longest_retry_after)))

    def breaker_wait(self, trips: int) -> timedelta:
        """Return how long the breaker stays open after the `trips`-th consecutive trip."""
        return timedelta(seconds=self.breaker_waits[min(trips, len(self.breaker_waits)) - 1])


def spell(seconds: float) -> str:
    """Return a duration in words, in its largest whole unit: `3 days`, `1 hour`, `0.5 seconds`."""
    unit = next((unit for unit, size in UNITS.items() if seconds >= size and seconds % size == 0), "second")
    count = seconds / UNITS.get(unit, 1)
    return f"{count:g} {unit}{'' if count == 1 else 's'}"

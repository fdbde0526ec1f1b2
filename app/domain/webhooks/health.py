"""Health of a subscription: its circuit breaker, its notices, and the rule that disables it."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from app.domain.webhooks.rows import Leased
from app.domain.webhooks.schedule import Schedule, spell


@dataclass(slots=True)
class Health:
    """The state of one endpoint while a process holds its lease.

    Consecutive failures open the breaker: no attempt is made until `open_until`, then one probe closes or reopens it.
    """

    failures: int
    trips: int
    open_until: datetime | None
    failing_since: datetime | None
    noticed: int
    last_success_at: datetime | None = None

    @classmethod
    def of(cls, subscription: Leased) -> "Health":
        """Read the state that was stored."""
        return cls(
            subscription.failures,
            subscription.trips,
            subscription.open_until,
            subscription.failing_since,
            subscription.noticed,
        )

    @property
    def is_half_open(self) -> bool:
        """Return whether the next attempt is a probe."""
        return self.open_until is not None

    def succeed(self, now: datetime) -> None:
        """Count a success, which resets the state."""
        self.failures, self.trips, self.noticed = 0, 0, 0
        self.open_until = self.failing_since = None
        self.last_success_at = now

    def fail(self, now: datetime, schedule: Schedule) -> None:
        """Count a failure; open the breaker after a failed probe or too many failures."""
        self.failures += 1
        self.failing_since = self.failing_since or now
        if self.is_half_open or self.failures >= schedule.breaker_failures:
            self.trip(now, schedule)

    def fail_test(self, now: datetime, schedule: Schedule) -> None:
        """Open the breaker again if the failed test was the probe, as long as before; a failed test does not count."""
        if self.is_half_open and not self.is_open(now):
            self.open_until = now + schedule.breaker_wait(self.trips)

    def trip(self, now: datetime, schedule: Schedule) -> None:
        """Open the breaker, for longer after each consecutive trip; an already open breaker does not change."""
        if not self.is_open(now):
            self.trips += 1
            self.open_until = now + schedule.breaker_wait(self.trips)

    def is_open(self, now: datetime) -> bool:
        """Return whether attempts must wait."""
        return self.open_until is not None and self.open_until > now

    def due_notice(self, now: datetime, schedule: Schedule) -> str | None:
        """Return the time without success, in words, when a notice is due; once for each of `notice_after`."""
        reached = sum(self._has_failed_for(seconds, now) for seconds in schedule.notice_after)
        if reached <= self.noticed:
            return None
        self.noticed = reached
        return spell(schedule.notice_after[reached - 1])

    def is_failing_for_too_long(self, now: datetime, schedule: Schedule) -> bool:
        """Return whether the time without success allows disabling the subscription."""
        return self._has_failed_for(schedule.disable_after, now)

    def _has_failed_for(self, seconds: float, now: datetime) -> bool:
        return self.failing_since is not None and now - self.failing_since >= timedelta(seconds=seconds)

"""The clock, which tests replace."""

from datetime import UTC, datetime, timedelta

TOLERANCE = timedelta(seconds=1)
"""The difference from the database that a clock may have: one that is measured during a wait is not exact."""


class Clock:
    """The system clock."""

    def now(self) -> datetime:
        """Return the present time in UTC."""
        return datetime.now(UTC)  # noqa: TID251

    def compare(self, at: datetime, waited: timedelta) -> None:
        """Take note of the time of the database, which was asked for and waited for; this clock ignores it."""


class SharedClock(Clock):
    """A clock that follows the database while the system clock differs from it by more than `TOLERANCE`.

    Processes on several machines read it before they write or judge times that others compare with theirs.
    """

    def __init__(self, system: Clock | None = None) -> None:
        self._system = system or Clock()
        self._ahead = timedelta()

    def now(self) -> datetime:
        """Return the present time in UTC."""
        return self._system.now() + self._ahead

    def compare(self, at: datetime, waited: timedelta) -> None:
        """Follow the time of the database, unless this clock may have shown it during the wait."""
        now = self.now()
        if not now - waited - TOLERANCE <= at <= now + TOLERANCE:
            self._ahead += at - (now - waited / 2)

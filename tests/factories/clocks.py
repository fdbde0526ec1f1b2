"""Clocks that tests set."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from app.domain.kernel.clock import Clock


@dataclass(frozen=True)
class Later(Clock):
    """A clock that runs ahead of the machine's."""

    ahead: timedelta

    def now(self) -> datetime:
        return super().now() + self.ahead


class Moving(Clock):
    """A clock that runs ahead of the machine's by as much as a test has moved it."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def now(self) -> datetime:
        return super().now() + self._ahead

    def move(self, **ahead: float) -> None:
        """Move the clock forward by a duration."""
        self._ahead += timedelta(**ahead)


class Stopped(Clock):
    """A clock that stands, a minute ahead of the machine's, until a test moves it."""

    def __init__(self) -> None:
        self._now = super().now() + timedelta(minutes=1)

    def now(self) -> datetime:
        return self._now

    def move(self, seconds: float) -> None:
        """Set the clock forward."""
        self._now += timedelta(seconds=seconds)


@dataclass
class At(Clock):
    """A clock that stands at an instant, until a test sets another."""

    instant: datetime

    def now(self) -> datetime:
        return self.instant

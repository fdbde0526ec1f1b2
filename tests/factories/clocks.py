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

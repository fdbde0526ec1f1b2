"""The limit of requests that a vendor answers in a while."""

from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta


@dataclass
class Limit:
    """At most `most` requests in an interval; None for any number."""

    interval: timedelta
    most: int | None = None
    _recent: deque[datetime] = field(default_factory=deque)

    def is_exceeded(self, now: datetime) -> bool:
        """Count a request; return whether those of the interval that ends now are too many."""
        while self._recent and now - self._recent[0] >= self.interval:
            self._recent.popleft()
        self._recent.append(now)
        return self.most is not None and len(self._recent) > self.most

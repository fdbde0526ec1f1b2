"""The time, so that tests can say what it is."""

from datetime import UTC, datetime


class Clock:
    """The time of the machine."""

    def now(self) -> datetime:
        """Return the present instant, in UTC."""
        return datetime.now(UTC)  # noqa: TID251

"""The clock, which tests replace."""

from datetime import UTC, datetime


class Clock:
    """The system clock."""

    def now(self) -> datetime:
        """Return the present time in UTC."""
        return datetime.now(UTC)  # noqa: TID251

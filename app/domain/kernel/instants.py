"""Instants as callers and vendors write them."""

from datetime import UTC, datetime

FIRST, LAST = datetime(1, 2, 1, tzinfo=UTC), datetime(9999, 11, 30, tzinfo=UTC)


def read(text: str) -> datetime:
    """Return an instant in ISO 8601, within bounds and in UTC; one without a zone is in UTC. Raises `ValueError`."""
    written = datetime.fromisoformat(text)
    try:
        return bound((written if written.tzinfo else written.replace(tzinfo=UTC)).astimezone(UTC))
    except OverflowError:
        raise ValueError(f"{text!r:.60} is not within the years 1 to 9999 in UTC.") from None


def bound(at: datetime) -> datetime:
    """Return a time, or the bound beyond which it is: a month from the end of the calendar, so that no sum overflows.

    asyncpg also writes the very first and the very last instant as infinite ones, and reads these without a zone.
    """
    return max(FIRST.replace(tzinfo=at.tzinfo), min(at, LAST.replace(tzinfo=at.tzinfo)))

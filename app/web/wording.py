"""Waiting times in words."""

import math

from app.domain.kernel.errors import RateLimited


def seconds_of(refused: RateLimited) -> int:
    """Return the number of seconds to wait."""
    return int(str(refused.facts["seconds"]))


def wait(refused: RateLimited) -> str:
    """Return the text that names the waiting time, in seconds or whole minutes."""
    seconds = seconds_of(refused)
    count, unit = (seconds, "second") if seconds < 60 else (math.ceil(seconds / 60), "minute")
    return f"Too many attempts. Try again in {count} {unit}{'s' if count > 1 else ''}."

"""Names of time zones (IANA), checked against the database of `zoneinfo`."""

from functools import cache
from zoneinfo import available_timezones

from app.domain.kernel.errors import InvalidInput


@cache
def names() -> frozenset[str]:
    """Return the names of all zones that belong to a place; `Etc/GMT+5` and the like have no summer time."""
    return frozenset(name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))


def checked(text: str, field: str = "time_zone") -> str:
    """Return the name of a zone as it is written in the database, whatever its case; raise `InvalidInput`."""
    found = _spellings().get(text.strip().casefold())
    if found is None:
        raise InvalidInput(
            reason=f"{field} must be the name of a time zone such as America/Chicago or Europe/London.", field=field
        )
    return found


@cache
def _spellings() -> dict[str, str]:
    return {name.casefold(): name for name in names()} | {"utc": "UTC"}

"""Time zones (IANA) by the newest data of this machine, and their names.

`zoneinfo` prefers the data of the operating system, which may be years older than that of the package `tzdata`. A place
that has changed its clocks since then would get texts an hour too early or too late.
"""

import zoneinfo
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from zoneinfo import ZoneInfo, available_timezones

from tzdata import IANA_VERSION

from app.domain.kernel.errors import InvalidInput

__all__ = ["ZoneInfo", "checked", "names"]

SOURCE = "tzdata.zi"
"""The file of a directory of zones that begins with their version, such as `# version 2026a`."""


def choose_path(paths: Iterable[str], packaged: str = IANA_VERSION) -> tuple[str, ...]:
    """Return the directories whose zones are newer than those of the package; without one, the package is read."""
    return tuple(path for path in paths if _read_version(Path(path)) > packaged)


def _read_version(directory: Path) -> str:
    """Return the version of the zones in a directory; empty where it is unknown."""
    try:
        with (directory / SOURCE).open(encoding="utf-8", errors="replace") as source:
            return source.readline().removeprefix("# version ").strip()
    except OSError:
        return ""


zoneinfo.reset_tzpath(choose_path(zoneinfo.TZPATH))


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

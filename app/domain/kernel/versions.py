"""Versions of records, by which a change is refused when another one came before it."""

from collections.abc import Mapping
from typing import Any, Protocol

from sqlalchemy.orm import Mapped

from app.domain.kernel.errors import Conflict

ARGUMENT = "expected_version"
"""The argument of changes that names the version that their caller has read."""


class Versioned(Protocol):
    """A row whose `version` is 1 at first, and grows with each change of its fields."""

    version: Mapped[int]


def is_outdated(expected: int | None, version: int) -> bool:
    """Return whether a record has another version than its caller expects; None expects none."""
    return expected not in (None, version)


def require(kind: str, version: int, expected: int | None) -> None:
    """Raise `Conflict` for a record that has another version than its caller expects."""
    if is_outdated(expected, version):
        reason = f"The {kind} has version {version}, not {expected}: it was changed. Read it again."
        raise Conflict(reason=reason, field=ARGUMENT)


def change(row: Versioned, values: Mapping[str, Any]) -> bool:
    """Set the fields of a locked row; return whether any has changed, which is a new version."""
    if all(getattr(row, name) == value for name, value in values.items()):
        return False
    for name, value in values.items():
        setattr(row, name, value)
    row.version += 1
    return True

"""The rules of an import: the treatment of existing contacts, and the outcomes of rows."""

import enum
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from app.domain.bulk.files import Wanted


class Existing(enum.StrEnum):
    """The treatment of contacts whose phone is in the file."""

    update = enum.auto()
    keep = enum.auto()
    skip = enum.auto()


class Outcome(enum.StrEnum):
    """The outcome of a row."""

    created = enum.auto()
    updated = enum.auto()
    unchanged = enum.auto()
    duplicate_in_file = enum.auto()
    invalid = enum.auto()
    suppressed = enum.auto()


Line = tuple[int, str, str, int | str]
"""A line of the report: the number of the row, its outcome, the reason, and the id of the contact."""


@dataclass(frozen=True, slots=True)
class Import:
    """The import of an uploaded file. `consent` is the text by which the persons of the list agreed to messages."""

    upload_id: int
    wanted: Wanted = field(default_factory=Wanted)
    country: str | None = None
    existing: Existing = Existing.update
    tags: list[str] = field(default_factory=list)
    source: str = "import"
    consent: str = ""
    dry_run: bool = False


def as_arguments(wanted: Import) -> dict[str, Any]:
    """Return an import as the arguments of a job, whose keys are texts."""
    arguments = asdict(wanted)
    columns = wanted.wanted.columns
    arguments["wanted"] = asdict(wanted.wanted) | {"columns": columns and list(map(list, columns.items()))}
    return arguments


def read_arguments(arguments: Mapping[str, Any]) -> Import:
    """Return the import in the arguments of a job."""
    given: dict[str, Any] = {name: value for name, value in arguments.items() if name != "format"}
    wanted: dict[str, Any] = dict(given["wanted"])
    if wanted["columns"] is not None:
        wanted["columns"] = dict(wanted["columns"])
    given |= {"wanted": Wanted(**wanted), "existing": Existing(given["existing"])}
    return Import(**given)

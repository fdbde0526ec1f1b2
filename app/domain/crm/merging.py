"""Merges a contact with its record in a CRM, field by field: the last writer by the clock of its side wins."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

DND = "dnd"
MERGED = ("first_name", "last_name", "email", DND)


@dataclass(frozen=True, slots=True)
class Side:
    """The values of a contact on one side, with the times of their last changes as far as they are known.

    `at` is the time of the change of each field that `times` lacks.
    """

    values: Mapping[str, Any]
    at: datetime
    times: Mapping[str, datetime]

    def time_of(self, field: str) -> datetime:
        """Return the time at which a field changed."""
        return self.times.get(field, self.at)


@dataclass(frozen=True, slots=True)
class Merged:
    """The values to write on either side, and the values on which both sides then agree."""

    here: Mapping[str, Any]
    there: Mapping[str, Any]
    agreed: Mapping[str, Any]


def merge(base: Mapping[str, Any], here: Side, there: Side, *, is_opted_out: bool) -> Merged:
    """Merge the fields of the CRM's side with those here; both agreed on `base` last, without values never compared.

    Where only one side changed a field, its value is taken; where both did, the later one. On the first comparison
    a value wins over none. An opt-out here always wins.
    """
    to_here, to_there, agreed = dict[str, Any](), dict[str, Any](), dict[str, Any]()
    for field in there.values:
        ours, theirs = here.values[field], there.values[field]
        if ours == theirs:
            agreed[field] = ours
        elif (field == DND and is_opted_out) or _is_ours(field, base, here, there):
            agreed[field] = to_there[field] = ours
        else:
            agreed[field] = to_here[field] = theirs
    return Merged(to_here, to_there, agreed)


def _is_ours(field: str, base: Mapping[str, Any], here: Side, there: Side) -> bool:
    ours, theirs = here.values[field], there.values[field]
    if field not in base and bool(ours) != bool(theirs):
        return bool(ours)
    if field in base and ours == base[field]:
        return False
    if field in base and theirs == base[field]:
        return True
    if here.time_of(field) == there.time_of(field) and field == DND:
        return bool(ours)
    return here.time_of(field) >= there.time_of(field)

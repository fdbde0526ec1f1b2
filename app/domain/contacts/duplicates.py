"""Find contacts that are likely to be one person, and join the fields of two."""

import enum
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ARRAY, BigInteger, ColumnElement, Select, and_, func, literal_column, select
from sqlalchemy.dialects.postgresql import aggregate_order_by

from app.domain.contacts.models import Contact
from app.domain.contacts.queries import HAS_CUSTOM, HAS_EMAIL
from app.domain.contacts.service import MAX_TAGS
from app.domain.kernel import paging
from app.domain.kernel.errors import InvalidInput
from app.domain.kernel.turns import one_at_a_time
from app.domain.kernel.unit_of_work import UnitOfWork

MAX_GROUPS, MAX_IN_GROUP = 100, 10
EMPTY = (None, "")
OLDEST = func.array_agg(aggregate_order_by(Contact.id, Contact.id.asc()), type_=ARRAY(BigInteger))[1:MAX_IN_GROUP]
"""The ids of the oldest contacts of a group, which may be all contacts of the account."""

NATIONAL = 10
"""The last digits of a phone that variants share: with and without a country code, or a wrong one."""

JOINED = ("first_name", "last_name", "email", "source", "time_zone", "assignee_id")
"""The fields of which a merge keeps one value; those of custom fields are joined one by one."""


class DuplicateKind(enum.StrEnum):
    """The value that likely duplicates have in common."""

    email = enum.auto()
    phone = enum.auto()
    custom_field = enum.auto()


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Contacts with one value, the oldest first."""

    value: str
    contacts: list[Contact]


@dataclass(frozen=True, slots=True)
class Joined:
    """The value of a field after a merge, and the other value, which is lost."""

    name: str
    value: Any
    discarded: Any


async def find(
    unit: UnitOfWork, kind: DuplicateKind, key: str | None, first: int, after: str | None
) -> list[Duplicates]:
    """Return the next groups of contacts with the same value, in the order of the values after one.

    `key` is the custom field of that kind. A group has its ten oldest contacts. Raises `InvalidInput`.
    """
    if (kind is DuplicateKind.custom_field) is not bool(key):
        raise InvalidInput(reason="key must be given for the kind custom_field, and for no other.", field="key")
    if not 1 <= first <= MAX_GROUPS:
        raise InvalidInput(reason=f"first must be from 1 to {MAX_GROUPS}.", field="first")
    wanted = groups(unit.actor.account_id, kind, key or "", after or "").limit(first)
    async with one_at_a_time(unit, "duplicates"):
        await paging.plan_for_values(unit)
        oldest: dict[str, list[int]] = dict(await unit.rows(wanted))
    ids = [id for group in oldest.values() for id in group]
    found = {each.id: each for each in await unit.all(select(Contact).where(Contact.id.in_(ids)))}
    return [Duplicates(value, [found[id] for id in group if id in found]) for value, group in oldest.items()]


def groups(account_id: int, kind: DuplicateKind, key: str, after: str) -> Select[str, list[int]]:
    """Return the query of values that several contacts have, with the ids of the oldest ones, the next values first."""
    value, has_value = _value(kind, key)
    own = select(value.label("value"), OLDEST.label("ids")).where(
        Contact.account_id == account_id, has_value, value > after
    )
    return own.group_by(value).having(func.count() > 1).order_by(value)


def join(into: Contact, other: Contact, take: Collection[str]) -> list[Joined]:
    """Return the fields of a contact after the merge of another one.

    A field keeps its value unless it is empty, or named in `take`. Raises `InvalidInput` for an unknown name, and for
    more tags than a contact can have.
    """
    fields = {name: (getattr(into, name), getattr(other, name)) for name in JOINED}
    keys = sorted({*into.custom_fields, *other.custom_fields})
    fields |= {f"custom.{key}": (into.custom_fields.get(key), other.custom_fields.get(key)) for key in keys}
    fields["pipeline_stage"] = into.pipeline_stage, other.pipeline_stage
    if unknown := sorted(set(take) - fields.keys()):
        raise InvalidInput(reason=f"take names {unknown[0]}. It may name: {', '.join(fields)}.", field="take")
    tags = list(dict.fromkeys([*into.tags, *other.tags]))
    if len(tags) > MAX_TAGS:
        raise InvalidInput(reason=f"Together they have more than {MAX_TAGS} tags. Remove some first.", field="from_id")
    return [
        *(_joined(name, *values, taken=name in take) for name, values in fields.items()),
        Joined("tags", tags, None),
    ]


def write(into: Contact, other: Contact, joined: Sequence[Joined]) -> None:
    """Set the fields of a contact as a merge joins them; it has do-not-disturb if either has."""
    if into.time_zone != (zone := next(each.value for each in joined if each.name == "time_zone")):
        into.time_zone_source = other.time_zone_source
    custom = {each.name.removeprefix("custom."): each.value for each in joined if each.name.startswith("custom.")}
    for each in joined:
        if not each.name.startswith("custom."):
            setattr(into, each.name, each.value)
    into.time_zone, into.custom_fields = zone, custom
    into.dnd_sms, into.replies = into.dnd_sms or other.dnd_sms, into.replies + other.replies


def _joined(name: str, mine: object, theirs: object, *, taken: bool) -> Joined:
    chosen, lost = (theirs, mine) if mine in EMPTY or (taken and theirs not in EMPTY) else (mine, theirs)
    return Joined(name, chosen, None if lost in (*EMPTY, chosen) else lost)


def _value(kind: DuplicateKind, key: str) -> tuple[ColumnElement[str], ColumnElement[bool]]:
    match kind:
        case DuplicateKind.email:
            return func.lower(Contact.email), HAS_EMAIL
        case DuplicateKind.phone:
            return func.right(Contact.phone, NATIONAL), func.length(Contact.phone) > literal_column(str(NATIONAL))
        case DuplicateKind.custom_field:  # pragma: no branch - no kind is left
            value = func.lower(Contact.custom_fields[key].astext)
            return value, and_(HAS_CUSTOM, value.is_not(None))

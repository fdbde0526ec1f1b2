"""Queries for contacts."""

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from string import digits as ascii_digits
from typing import Any, NamedTuple

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Select,
    Text,
    TextClause,
    and_,
    any_,
    func,
    literal,
    literal_column,
    or_,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import aliased

from app.domain.contacts import custom_fields
from app.domain.contacts.models import Contact, ContactStatus, ContactTag, ContactTotal, PipelineStage
from app.domain.kernel import paging, records
from app.domain.kernel.errors import InvalidInput, NotFound
from app.domain.kernel.paging import Counter, Order, Page, Total, Window, count, fetch
from app.domain.kernel.turns import one_at_a_time
from app.domain.kernel.unit_of_work import UnitOfWork


class ContactSort(enum.StrEnum):
    """The sort order of a list of contacts."""

    name_asc = enum.auto()
    name_desc = enum.auto()
    score_high = enum.auto()
    date_added = enum.auto()
    date_updated = enum.auto()
    last_message = enum.auto()


BETWEEN_DIGITS = frozenset(ascii_digits + "+ ().-/\N{NO-BREAK SPACE}")
"""Digits, and the characters that people write between the digits of a phone."""

PHONE_DIGITS = 7
"""With + and at least as many digits, a search is for the start of a phone, which an index serves."""

INDEXED = re.compile(r"[^\W_]{3}")
"""Three letters or digits in a row: a text without them has no trigram, and the index of trigrams is read whole."""

MAX_SEARCH = 200
"""Maximum number of characters of a search, and of the tag of a filter."""

MAX_LISTED_TAGS = 100
"""Maximum number of tags of a filter."""

MAX_TAGGED = 1000
"""Maximum number of contacts of a tag that are counted, because a list counts up to 1,000 tags in one statement."""

MANY, MAX_MATCHES = 20_000, 1000
"""Where an account has more than so many contacts, so many of a search are counted: each is compared with its text."""

MAX_FOUND = 100
"""Maximum number of contacts that a search by e-mail address returns."""

QUICK_SECONDS, NEWEST = 0.5, 20_000
"""The time of a quick search of all contacts, and the number of the newest ones that are searched where it is over."""

Listed = aliased(Contact, name="c")
"""The contacts of a list, under the name that filters of segments have for them."""

NAMES = (func.lower(Listed.first_name, type_=Text), func.lower(Listed.last_name, type_=Text), Listed.id)
ORDERS = {
    ContactSort.name_asc: Order(NAMES, descending=False),
    ContactSort.name_desc: Order(NAMES),
    ContactSort.score_high: Order((Listed.score, Listed.id)),
    ContactSort.date_added: Order((Listed.created_at, Listed.id)),
    ContactSort.date_updated: Order((Listed.updated_at, Listed.id)),
}
"""The orders by columns of contacts."""

NEWEST_TAGGED = Order((ContactTag.created_at, ContactTag.contact_id))
"""The order of `date_added`, in the columns of the table that is read first."""

HAS_CUSTOM = Contact.custom_fields != literal_column("'{}'")
HAS_EMAIL = Contact.email != literal_column("''")
IS_OPTED_OUT = Listed.status == literal_column(f"'{ContactStatus.opted_out}'")
"""The conditions of partial indexes, as constants: a plan for any parameters could not use the index."""


@dataclass(frozen=True, slots=True)
class ContactFilter:
    """Filter of a list of contacts.

    `search` matches anywhere in a name, the phone or the e-mail address; + and seven digits or more, the start of the
    phone. `custom` are values of custom fields as texts, all of which a contact must have. A contact has at least one
    of the `tags`. A search or a tag of more than `MAX_SEARCH` characters raises `InvalidInput`, because PostgreSQL
    compares it with many contacts.
    """

    search: str | None = None
    stage: PipelineStage | None = None
    status: ContactStatus | None = None
    tag: str | None = None
    assignee_id: int | None = None
    custom: dict[str, Any] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    updated_since: datetime | None = None

    def __post_init__(self) -> None:
        """Check the lengths."""
        _check_length("search", self.search)
        _check_length("tag", self.tag)
        if len(self.tags) > MAX_LISTED_TAGS:
            raise InvalidInput(reason=f"tags must be at most {MAX_LISTED_TAGS}.", field="tags")
        for tag in self.tags:
            _check_length("tags", tag)


class Joined(NamedTuple):
    """Another table with one row for some contacts, the condition of the join, and an order by that table."""

    table: type[Any]
    on: ColumnElement[bool]
    order: Order


async def find_page(
    unit: UnitOfWork,
    wanted: ContactFilter,
    sort: ContactSort,
    window: Window,
    *,
    condition: ColumnElement[bool] | TextClause | None = None,
    by: Joined | None = None,
) -> Page[Contact]:
    """Return one page of the account's contacts.

    They satisfy a condition on `Listed`. A list in the order of another table has only contacts with a row there.
    """
    wanted = await check(unit, wanted)
    narrowing = wanted.search, wanted.tag, wanted.tags, wanted.custom, wanted.updated_since
    is_narrowed = condition is not None or any(narrowing)
    if is_narrowed:
        await paging.plan_for_values(unit)
    statement = _filtered(unit, wanted)
    if condition is not None:
        statement = statement.where(condition)
    if by:
        return await fetch(unit, statement.join(by.table, by.on), by.order, window, is_narrowed=is_narrowed)
    order = NEWEST_TAGGED if wanted.tag and sort is ContactSort.date_added else ORDERS[sort]
    counter = _counter(unit, wanted) if condition is None else None
    return await fetch(unit, statement, order, window, counter, is_narrowed=is_narrowed)


async def count_all(unit: UnitOfWork, wanted: ContactFilter) -> int:
    """Return the exact number of the contacts of a filter, however many there are."""
    wanted = await check(unit, wanted)
    await paging.plan_for_values(unit)
    if wanted.tag and wanted == ContactFilter(tag=wanted.tag):
        found: Select[Any] = select(ContactTag.contact_id).where(*_has_tag(unit, wanted.tag))
    else:
        found = _filtered(unit, wanted)
    return await unit.one(select(func.count()).select_from(found.subquery())) or 0


async def check(unit: UnitOfWork, wanted: ContactFilter) -> ContactFilter:
    """Return a filter with the typed values of its custom fields.

    Raises `InvalidInput` for an unknown field, and for a value that no contact can have. Without a value a filter would
    find more contacts than its author meant.
    """
    custom = await custom_fields.check(unit, wanted.custom)
    if empty := next((key for key, value in custom.items() if value is None), None):
        reason = f"custom.{empty} must have a value to look for. Leave it out to filter by other facts alone."
        raise InvalidInput(reason=reason, field=f"custom.{empty}")
    return replace(wanted, search=_given(wanted.search), tag=_given(wanted.tag), custom=custom)


def _given(text: str | None) -> str | None:
    """Return a text without spaces around it; None for an empty one, which filters nothing."""
    return (text or "").strip() or None


def _counter(unit: UnitOfWork, wanted: ContactFilter) -> Counter | None:
    """Return the method of counting a list that no index of contacts counts."""
    if wanted == ContactFilter():
        return partial(_count_all, unit)
    if wanted == ContactFilter(tag=wanted.tag):
        return partial(count, unit, select(ContactTag).where(*_has_tag(unit, wanted.tag or "")))
    if wanted.search or wanted.tag or wanted.custom:
        newest = _filtered(unit, wanted).order_by(*ORDERS[ContactSort.date_added].sorting)
        return partial(_count_matches, unit, newest) if wanted.search else partial(count, unit, newest)
    return None


async def _count_all(unit: UnitOfWork) -> Total:
    return Total(await unit.one(_total(unit)) or 0)


async def _count_matches(unit: UnitOfWork, matches: Select[Any]) -> Total:
    has_many = (await _count_all(unit)).count > MANY
    return await count(unit, matches, MAX_MATCHES if has_many else None)


async def get(unit: UnitOfWork, id: int, *, lock: bool = False) -> Contact:
    """Return a contact; with `lock`, locked for a change. Raise `NotFound`."""
    contact = await unit.one(_own(unit, lock=lock).where(Contact.id == id))
    if contact is None:
        raise NotFound(kind="contact", id=id)
    return contact


async def find_by_phone(unit: UnitOfWork, phone: str, *, lock: bool = False) -> Contact | None:
    """Return the contact with an E.164 phone."""
    return await unit.one(_own(unit, lock=lock).where(Contact.phone == phone))


async def hold_additions(unit: UnitOfWork) -> None:
    """Wait for transactions that add contacts of the account, and let no other one add any until the end of this one.

    Each addition changes the total of the account. Who adds a contact reads the suppressions of its phone afterwards.
    """
    first = insert(ContactTotal).values(account_id=unit.actor.account_id, total=0)
    await unit.execute(first.on_conflict_do_nothing())
    await unit.one(_total(unit).with_for_update(key_share=True))


async def find_exact(unit: UnitOfWork, phone: str | None, email: str | None) -> Sequence[Contact]:
    """Return up to `MAX_FOUND` contacts with an E.164 phone or an e-mail address in any case, oldest first."""
    wanted = [Contact.phone == phone] if phone else []
    if email:
        wanted.append(HAS_EMAIL & (func.lower(Contact.email) == func.lower(email)))
    return await unit.all(_own(unit).where(or_(*wanted)).order_by(Contact.id).limit(MAX_FOUND))


async def find_first(unit: UnitOfWork, text: str, limit: int) -> Sequence[Contact]:
    """Return the newest contacts that a search finds; where that takes long, those among the `NEWEST` contacts.

    The index reads every contact that has all parts of the text, in whatever order.
    """
    async with one_at_a_time(unit, "searches"):
        await paging.plan_for_values(unit)
        rows = await unit.try_within(QUICK_SECONDS, _newest(unit, limit, _matches(text)))
        if rows is None:
            newest = Listed.id.in_(_newest(unit, NEWEST))
            rows = await unit.rows(_newest(unit, limit, newest, _matches(text, by_index=False)))
    found = await find_many(unit, [row.id for row in rows])
    return [found[row.id] for row in rows if row.id in found]


def _newest(unit: UnitOfWork, limit: int, *conditions: ColumnElement[bool]) -> Select[int]:
    own = select(Listed.id).where(Listed.account_id == unit.actor.account_id, *conditions)
    return own.order_by(*ORDERS[ContactSort.date_added].sorting).limit(limit)


async def list_tags(unit: UnitOfWork, limit: int) -> Sequence[str]:
    """Return the distinct tags of the account's contacts in alphabetical order; each is a step in the index."""
    first = select(func.min(ContactTag.tag).label("tag")).where(ContactTag.account_id == unit.actor.account_id)
    known = first.cte("known", recursive=True)
    later = first.where(ContactTag.tag > known.c.tag).correlate(known).scalar_subquery()
    known = known.union_all(select(later).where(known.c.tag.is_not(None)))
    return await unit.all(select(known.c.tag).where(known.c.tag.is_not(None)).limit(limit))


async def find_tagged(unit: UnitOfWork, tag: str, after: int, limit: int) -> Sequence[int]:
    """Return the ids of the next contacts with a tag, in their order, which is that of the primary key."""
    tagged = select(ContactTag.contact_id).where(*_has_tag(unit, tag), ContactTag.contact_id > after)
    return await unit.all(tagged.order_by(ContactTag.contact_id).limit(limit))


async def count_tags(unit: UnitOfWork, tags: Sequence[str]) -> dict[str, Total]:
    """Return the number of contacts with each tag, counted up to `MAX_TAGGED` in the index, in one statement."""
    wanted = select(func.unnest(literal(tags, ARRAY(Text))).label("tag")).subquery()
    own = ContactTag.account_id == unit.actor.account_id, ContactTag.tag == wanted.c.tag
    some = select(literal(1).label("one")).where(*own).limit(MAX_TAGGED + 1).lateral()
    counts = select(wanted.c.tag, func.count(some.c.one)).select_from(wanted.outerjoin(some, true()))
    rows = await unit.rows(counts.group_by(wanted.c.tag))
    return {row[0]: Total(min(row[1], MAX_TAGGED), row[1] <= MAX_TAGGED) for row in rows}


async def find_many(unit: UnitOfWork, ids: Sequence[int]) -> dict[int, Contact]:
    """Return contacts by their ids."""
    return {contact.id: contact for contact in await unit.all(_own(unit).where(records.among(Contact.id, ids)))}


def is_indexed(text: str) -> bool:
    """Return whether an index serves a search: each of its spellings has three letters or digits in a row."""
    return all(map(INDEXED.search, _spellings(text)))


def digits_of(text: str) -> str:
    """Return the digits of a phone or a part of one; empty for another text."""
    return "".join(filter(ascii_digits.__contains__, text)) if BETWEEN_DIGITS.issuperset(text) else ""


def matching(unit: UnitOfWork, text: str) -> Select[int]:
    """Return the query of the ids of the contacts that a search finds, for a statement of another area.

    Raises `InvalidInput` for a long text.
    """
    _check_length("search", text)
    return select(Listed.id).where(Listed.account_id == unit.actor.account_id, _matches(text))


def _check_length(field: str, text: str | None) -> None:
    if text and len(text) > MAX_SEARCH:
        raise InvalidInput(reason=f"{field} must have at most {MAX_SEARCH} characters.", field=field)


def _own(unit: UnitOfWork, *, lock: bool = False) -> Select[Contact]:
    statement = select(Contact).where(Contact.account_id == unit.actor.account_id)
    return statement.with_for_update(key_share=True).execution_options(populate_existing=True) if lock else statement


def _total(unit: UnitOfWork) -> Select[int]:
    return select(ContactTotal.total).where(ContactTotal.account_id == unit.actor.account_id)


def _filtered(unit: UnitOfWork, wanted: ContactFilter) -> Select[Contact]:
    statement = select(Listed).where(Listed.account_id == unit.actor.account_id)
    if wanted.search:
        statement = statement.where(_matches(wanted.search))
    if wanted.stage:
        statement = statement.where(Listed.pipeline_stage == wanted.stage)
    if wanted.status:
        is_opted_out = wanted.status is ContactStatus.opted_out
        statement = statement.where(IS_OPTED_OUT if is_opted_out else Listed.status == wanted.status)
    if wanted.assignee_id is not None:
        statement = statement.where(Listed.assignee_id == wanted.assignee_id)
    if wanted.custom:
        statement = statement.where(
            Listed.custom_fields != literal_column("'{}'"), Listed.custom_fields.contains(wanted.custom)
        )
    if wanted.updated_since:
        statement = statement.where(Listed.updated_at >= wanted.updated_since)
    return _tagged(unit, statement, wanted)


def _tagged(unit: UnitOfWork, statement: Select[Contact], wanted: ContactFilter) -> Select[Contact]:
    if wanted.tags:
        one_of = select(ContactTag.contact_id).where(*_has_tag(unit, *wanted.tags))
        statement = statement.where(Listed.id.in_(one_of))
    if wanted.tag:
        tagged = and_(ContactTag.contact_id == Listed.id, *_has_tag(unit, wanted.tag))
        statement = statement.join(ContactTag, tagged)
    return statement


def _has_tag(unit: UnitOfWork, *tags: str) -> tuple[ColumnElement[bool], ...]:
    is_one = ContactTag.tag == tags[0] if len(tags) == 1 else ContactTag.tag == any_(literal(tags, ARRAY(Text)))
    return ContactTag.account_id == unit.actor.account_id, is_one


def _matches(text: str, *, by_index: bool = True) -> ColumnElement[bool]:
    """Return the condition of a search: for the text, and for a phone or a part of one also for its digits."""
    digits = digits_of(text)
    if digits and text.startswith("+") and len(digits) >= PHONE_DIGITS:
        return Listed.phone.like(f"+{digits}%")
    searched = Listed.searched if by_index and is_indexed(text) else Listed.searched + ""
    return or_(*(searched.like(_anywhere(each)) for each in sorted(_spellings(text))))


def _spellings(text: str) -> set[str]:
    return {text, digits_of(text) or text}


def _anywhere(text: str) -> ColumnElement[str]:
    """Return the pattern that matches a text literally; PostgreSQL lowers it in the same way as the column."""
    literal = re.sub(r"[%_\\]", r"\\\g<0>", text)
    return func.lower(f"%{literal}%")

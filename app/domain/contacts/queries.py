"""Queries for contacts."""

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass
from string import digits as ascii_digits

from sqlalchemy import ColumnElement, Select, Text, func, literal_column, or_, select

from app.domain.contacts.models import Contact, ContactStatus, ContactTotal, PipelineStage
from app.domain.kernel.errors import NotFound
from app.domain.kernel.paging import Order, Page, Total, Window, count, fetch
from app.domain.kernel.unit_of_work import UnitOfWork


class ContactSort(enum.StrEnum):
    """The sort order of a list of contacts."""

    name_asc = enum.auto()
    name_desc = enum.auto()
    score_high = enum.auto()
    date_added = enum.auto()


BETWEEN_DIGITS = frozenset(ascii_digits + "+ ().-/\N{NO-BREAK SPACE}")
"""Digits, and the characters that people write between the digits of a phone."""

PHONE_DIGITS = 7
"""With + and at least as many digits, a search is for the start of a phone, which an index serves."""

INDEXED = re.compile(r"[^\W_]{3}")
"""Three letters or digits in a row: a text without them has no trigram, and the index of trigrams is read whole."""

MAX_FOUND = 100
"""Maximum number of contacts that a search by e-mail address returns."""

MAX_COUNTED = 1000
"""The limit of exact counts of a search, of which no index has all rows."""

NAMES = (func.lower(Contact.first_name, type_=Text), func.lower(Contact.last_name, type_=Text), Contact.id)
ORDERS = {
    ContactSort.name_asc: Order(NAMES, descending=False),
    ContactSort.name_desc: Order(NAMES),
    ContactSort.score_high: Order((Contact.score, Contact.id)),
    ContactSort.date_added: Order((Contact.created_at, Contact.id)),
}

HAS_EMAIL = Contact.email != literal_column("''")
IS_OPTED_OUT = Contact.status == literal_column(f"'{ContactStatus.opted_out}'")
"""The conditions of partial indexes, as constants: a plan for any parameters could not use the index."""


@dataclass(frozen=True, slots=True)
class ContactFilter:
    """Filter of a list of contacts.

    `search` matches anywhere in a name, the phone or the e-mail address; + and seven digits or more, the start of the
    phone.
    """

    search: str | None = None
    stage: PipelineStage | None = None
    status: ContactStatus | None = None
    tag: str | None = None


async def find_page(unit: UnitOfWork, wanted: ContactFilter, sort: ContactSort, window: Window) -> Page[Contact]:
    """Return one page of the account's contacts."""
    statement = _filtered(unit, wanted)

    async def count_all() -> Total:
        return Total(await unit.one(_total(unit)) or 0)

    async def count_found() -> Total:
        newest = statement.order_by(*ORDERS[ContactSort.date_added].sorting)
        return await count(unit, newest, MAX_COUNTED)

    counter = count_all if wanted == ContactFilter() else count_found if wanted.search else None
    return await fetch(unit, statement, ORDERS[sort], window, counter)


async def get(unit: UnitOfWork, id: int, *, lock: bool = False) -> Contact:
    """Return a contact; with `lock`, locked for a change. Raise `NotFound`."""
    contact = await unit.one(_own(unit, lock=lock).where(Contact.id == id))
    if contact is None:
        raise NotFound(kind="contact", id=id)
    return contact


async def find_by_phone(unit: UnitOfWork, phone: str, *, lock: bool = False) -> Contact | None:
    """Return the contact with an E.164 phone."""
    return await unit.one(_own(unit, lock=lock).where(Contact.phone == phone))


async def find_exact(unit: UnitOfWork, phone: str | None, email: str | None) -> Sequence[Contact]:
    """Return up to `MAX_FOUND` contacts with an E.164 phone or an e-mail address in any case, oldest first."""
    wanted = [Contact.phone == phone] if phone else []
    if email:
        wanted.append(HAS_EMAIL & (func.lower(Contact.email) == func.lower(email)))
    return await unit.all(_own(unit).where(or_(*wanted)).order_by(Contact.id).limit(MAX_FOUND))


async def list_tags(unit: UnitOfWork, limit: int) -> Sequence[str]:
    """Return the distinct tags of the account's contacts in alphabetical order."""
    tag = func.unnest(Contact.tags, type_=Text)
    own = select(tag.label("tag")).where(Contact.account_id == unit.actor.account_id, Contact.tags != []).distinct()
    return await unit.all(select(own.subquery().c.tag).order_by("tag").limit(limit))


async def find_many(unit: UnitOfWork, ids: Sequence[int]) -> dict[int, Contact]:
    """Return contacts by their ids."""
    return {contact.id: contact for contact in await unit.all(_own(unit).where(Contact.id.in_(ids)))}


def _own(unit: UnitOfWork, *, lock: bool = False) -> Select[Contact]:
    statement = select(Contact).where(Contact.account_id == unit.actor.account_id)
    return statement.with_for_update(key_share=True).execution_options(populate_existing=True) if lock else statement


def _total(unit: UnitOfWork) -> Select[int]:
    return select(ContactTotal.total).where(ContactTotal.account_id == unit.actor.account_id)


def _filtered(unit: UnitOfWork, wanted: ContactFilter) -> Select[Contact]:
    statement = _own(unit)
    if wanted.search:
        statement = statement.where(_matches(wanted.search.strip()))
    if wanted.stage:
        statement = statement.where(Contact.pipeline_stage == wanted.stage)
    if wanted.status:
        is_opted_out = wanted.status is ContactStatus.opted_out
        statement = statement.where(IS_OPTED_OUT if is_opted_out else Contact.status == wanted.status)
    if wanted.tag:
        statement = statement.where(Contact.tags.contains([wanted.tag]))
    return statement


def _matches(text: str) -> ColumnElement[bool]:
    """Return the condition of a search: for the text, and for a phone or a part of one also for its digits."""
    digits = "".join(filter(ascii_digits.__contains__, text))
    is_phone = bool(digits) and BETWEEN_DIGITS.issuperset(text)
    if is_phone and text.startswith("+") and len(digits) >= PHONE_DIGITS:
        return Contact.phone.like(f"+{digits}%")
    spellings = {text, digits} if is_phone else {text}
    searched = Contact.searched if all(map(INDEXED.search, spellings)) else Contact.searched + ""
    return or_(*(searched.like(_anywhere(each)) for each in sorted(spellings)))


def _anywhere(text: str) -> ColumnElement[str]:
    """Return the pattern that matches a text literally; PostgreSQL lowers it in the same way as the column."""
    literal = re.sub(r"[%_\\]", r"\\\g<0>", text)
    return func.lower(f"%{literal}%")

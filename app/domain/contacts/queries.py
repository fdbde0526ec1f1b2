"""Queries for contacts."""

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass
from string import digits as ascii_digits

from sqlalchemy import ColumnElement, Select, Text, func, or_, select

from app.domain.contacts.models import Contact, ContactStatus, ContactTotal, PipelineStage
from app.domain.kernel.errors import NotFound
from app.domain.kernel.paging import Order, Page, Total, Window, fetch
from app.domain.kernel.unit_of_work import UnitOfWork


class ContactSort(enum.StrEnum):
    """The sort order of a list of contacts."""

    name_asc = enum.auto()
    name_desc = enum.auto()
    score_high = enum.auto()
    date_added = enum.auto()


BETWEEN_DIGITS = frozenset(ascii_digits + "+ ().-/\N{NO-BREAK SPACE}")
"""Digits, and the characters that people write between the digits of a phone."""

MAX_FOUND = 100
"""Maximum number of contacts that a search by e-mail address returns."""

NAMES = (func.lower(Contact.first_name, type_=Text), func.lower(Contact.last_name, type_=Text), Contact.id)
ORDERS = {
    ContactSort.name_asc: Order(NAMES, descending=False),
    ContactSort.name_desc: Order(NAMES),
    ContactSort.score_high: Order((Contact.score, Contact.id)),
    ContactSort.date_added: Order((Contact.created_at, Contact.id)),
}


@dataclass(frozen=True, slots=True)
class ContactFilter:
    """Filter of a list of contacts. `search` matches anywhere in a name, the phone or the e-mail address."""

    search: str | None = None
    stage: PipelineStage | None = None
    status: ContactStatus | None = None
    tag: str | None = None


async def find_page(unit: UnitOfWork, wanted: ContactFilter, sort: ContactSort, window: Window) -> Page[Contact]:
    """Return one page of the account's contacts."""
    statement = _filtered(unit, wanted)

    async def count() -> Total:
        return Total(await unit.one(_total(unit)) or 0)

    return await fetch(unit, statement, ORDERS[sort], window, count if wanted == ContactFilter() else None)


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
    """Return up to `MAX_FOUND` contacts with an E.164 phone or an e-mail address in any case, oldest first.

    The LIKE condition is there for the index; alone it would match parts of addresses too.
    """
    wanted = [Contact.phone == phone] if phone else []
    if email:
        wanted.append(Contact.searched.like(_anywhere(email)) & (func.lower(Contact.email) == func.lower(email)))
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
        spellings = _spellings(wanted.search.strip())
        statement = statement.where(or_(*(Contact.searched.like(_anywhere(each)) for each in spellings)))
    if wanted.stage:
        statement = statement.where(Contact.pipeline_stage == wanted.stage)
    if wanted.status:
        statement = statement.where(Contact.status == wanted.status)
    if wanted.tag:
        statement = statement.where(Contact.tags.contains([wanted.tag]))
    return statement


def _spellings(text: str) -> list[str]:
    """Return the spellings to search for: the text, and for a phone or a part of one also its digits."""
    digits = "".join(filter(ascii_digits.__contains__, text))
    return [text, digits] if digits and digits != text and BETWEEN_DIGITS.issuperset(text) else [text]


def _anywhere(text: str) -> ColumnElement[str]:
    """Return the pattern that matches a text literally; PostgreSQL lowers it in the same way as the column."""
    literal = re.sub(r"[%_\\]", r"\\\g<0>", text)
    return func.lower(f"%{literal}%")

"""Queries for segments."""

from collections.abc import Sequence

from sqlalchemy import Select, func, select

from app.domain.kernel import records
from app.domain.kernel.errors import NotFound
from app.domain.kernel.naming import named
from app.domain.kernel.paging import Order, Page, Window, fetch
from app.domain.kernel.unit_of_work import UnitOfWork
from app.domain.segments import filters
from app.domain.segments.fields import CUSTOM
from app.domain.segments.models import Segment


async def find_page(unit: UnitOfWork, search: str | None, window: Window) -> Page[Segment]:
    """Return one page of the account's segments, newest first; `search` matches in the name, in any case."""
    statement = _own(unit)
    if wanted := (search or "").strip().lower():
        statement = statement.where(func.lower(Segment.name).contains(wanted, autoescape=True))
    return await fetch(unit, statement, Order((Segment.id,)), window)


async def get(unit: UnitOfWork, id: int, *, lock: bool = False, keep: bool = False) -> Segment:
    """Return a segment; with `lock`, locked for a change, with `keep`, against a deletion. Raise `NotFound`."""
    statement = _own(unit).where(Segment.id == id)
    if lock or keep:
        statement = statement.with_for_update(read=keep, key_share=keep)
    segment = await unit.one(statement)
    if segment is None:
        raise NotFound(kind="segment", id=id)
    return segment


async def find_many(unit: UnitOfWork, ids: Sequence[int]) -> dict[int, Segment]:
    """Return segments by their ids."""
    return {segment.id: segment for segment in await unit.all(_own(unit).where(records.among(Segment.id, ids)))}


async def find_named(unit: UnitOfWork, text: str, limit: int) -> Sequence[Segment]:
    """Return the first segments whose name contains a text."""
    return await unit.all(named(_own(unit), Segment.name, text, limit))


async def count_all(unit: UnitOfWork) -> int:
    """Return the number of the account's segments."""
    return await unit.one(select(func.count()).select_from(_own(unit).subquery())) or 0


async def find_with_custom_field(unit: UnitOfWork, key: str) -> list[Segment]:
    """Return the segments that filter by a custom field."""
    segments = await unit.all(_own(unit).order_by(Segment.id))
    return [each for each in segments if CUSTOM + key in _named(each)]


def _named(segment: Segment) -> set[str]:
    return {each.field for each in filters.conditions(filters.load(segment.filter))}


def _own(unit: UnitOfWork) -> Select[Segment]:
    return select(Segment).where(Segment.account_id == unit.actor.account_id)
